#include "pkg/scheduler/policy/schema.h"

#include <absl/strings/str_cat.h>

#include <string_view>

#include "pkg/api/member_schema.h"
#include "pkg/scheduler/policy/fields.h"

namespace berth::scheduler {
namespace policy {
namespace {

class SchemaWriter : public api::MemberSchema<SchemaWriter> {
 public:
  SchemaWriter(const std::vector<std::string>& predicates, const std::vector<std::string>& priorities,
               release::Version release, api::JsonWriter* out)
      : MemberSchema(out), predicates_(predicates), priorities_(priorities), release_(release) {}

  void Write() {
    Begin("Policy of v1");
    Policy policy;
    Document document{.policy = &policy};
    Object(document);
    out_.End();
  }

 private:
  friend MemberSchema;
  using MemberSchema::Value;

  template <typename V, typename T>
  void Visit(V& v, T& t) {
    VisitFields(v, t);
  }
  bool Knows(const api::MemberFacts& facts) const { return facts.span == nullptr || facts.span->Has(release_); }
  // An argument may have any member, and one that a release does not know helps nobody there.
  bool Describes(std::string_view, const api::MemberFacts& facts) const { return Knows(facts) || !in_argument_; }
  std::string Description(std::string_view what, const api::MemberFacts& facts) const {
    if (Knows(facts)) return std::string(what);
    what.remove_suffix(1);
    return absl::StrCat(util::ToAbsl(what), "; ignored before release ", release::NameOf(facts.span->since), ".");
  }

  void Value(std::string& text) {
    // The two members that say what a document is have one value each.
    if (name_ == "kind") return (void)out_.Member("const", "Policy");
    if (name_ == "apiVersion") return (void)out_.Member("const", "v1");
    MemberSchema::Value(text);
  }
  void Value(Weight&) { Integer(); }
  void Value(Url&) { out_.Member("type", "string"); }
  void Value(Ignored&) { out_.Member("type", "object"); }
  void Value(PredicatePolicy& t) {
    Object(t);
    KnownUnlessArgument(predicates_);
  }
  void Value(PriorityPolicy& t) {
    Object(t);
    KnownUnlessArgument(priorities_);
  }
  void Value(PredicatePolicy::Argument& t) { Argument(t); }
  void Value(PriorityPolicy::Argument& t) { Argument(t); }
  void Value(std::vector<PriorityPolicy::Argument::RequestedToCapacityRatio::Point>& points) {
    out_.Member("minItems", int64_t{1});
    MemberSchema::Value(points);
  }

  // An argument has one member; plugins have arguments of their own.
  template <typename T>
  void Argument(T& t) {
    in_argument_ = true;
    Object(t, /*open=*/true);
    in_argument_ = false;
    out_.Member("minProperties", int64_t{1}).Member("maxProperties", int64_t{1});
  }
  // Writes a condition: an entry without an argument must have one of these names.
  void KnownUnlessArgument(const std::vector<std::string>& names) {
    out_.Key("if").Object().Key("not").Object().Key("required").Texts({"argument"}).End().End();
    out_.Key("then").Object().Key("properties").Object().Key("name").Object().Key("enum").Texts(names);
    out_.End().End().End();
  }

  const std::vector<std::string>&predicates_, &priorities_;
  const release::Version release_;
  bool in_argument_ = false;
};

}  // namespace
}  // namespace policy

std::string PolicySchema(const std::vector<std::string>& predicates, const std::vector<std::string>& priorities,
                         release::Version release) {
  api::JsonWriter out(api::JsonWriter::Layout::kIndented);
  policy::SchemaWriter(predicates, priorities, release, &out).Write();
  return out.Finish();
}

}  // namespace berth::scheduler
