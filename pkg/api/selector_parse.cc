// Parses the textual selectors of list requests as the API server does.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "pkg/api/labels.h"
#include "pkg/util/status.h"

namespace berth::api {
namespace {

enum class TokenKind {
  kEnd,
  kError,
  kIdentifier,
  kNot,
  kComma,
  kOpen,
  kClose,
  kIn,
  kNotIn,
  kEq,
  kEqEq,
  kNotEq,
  kGt,
  kLt
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
};

bool Special(char c) {
  return c != 0 && std::strchr("=!(),><", c) != nullptr;
}
bool Space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

TokenKind SpecialKind(std::string_view s) {
  if (s == ")") return TokenKind::kClose;
  if (s == ",") return TokenKind::kComma;
  if (s == "!") return TokenKind::kNot;
  if (s == "==") return TokenKind::kEqEq;
  if (s == "=") return TokenKind::kEq;
  if (s == "!=") return TokenKind::kNotEq;
  if (s == "(") return TokenKind::kOpen;
  if (s == ">") return TokenKind::kGt;
  if (s == "<") return TokenKind::kLt;
  return TokenKind::kError;
}

std::vector<Token> Scan(std::string_view text) {
  std::vector<Token> tokens;
  size_t pos = 0;
  // A NUL byte ends the text, as in 1.10's scanner.
  text = text.substr(0, text.find('\0'));
  for (;;) {
    while (pos < text.size() && Space(text[pos])) ++pos;
    if (pos == text.size()) break;
    size_t begin = pos;
    if (Special(text[pos])) {
      // A token of special characters is as long as possible; its first character alone is always a token.
      while (++pos < text.size() && SpecialKind(text.substr(begin, pos + 1 - begin)) != TokenKind::kError) {
      }
      std::string_view s = text.substr(begin, pos - begin);
      tokens.push_back({SpecialKind(s), std::string(s)});
      continue;
    }
    while (pos < text.size() && !Special(text[pos]) && !Space(text[pos])) ++pos;
    std::string_view s = text.substr(begin, pos - begin);
    TokenKind kind = s == "in" ? TokenKind::kIn : s == "notin" ? TokenKind::kNotIn : TokenKind::kIdentifier;
    tokens.push_back({kind, std::string(s)});
  }
  tokens.push_back({});
  return tokens;
}

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

class Parser {
 public:
  Parser(std::string_view text, util::SymbolKeeper* keeper) : tokens_(Scan(text)), keeper_(keeper) {}

  absl::StatusOr<std::vector<Requirement>> Parse() {
    std::vector<Requirement> out;
    for (;;) {
      Token t = Peek();
      if (t.kind == TokenKind::kEnd) return out;
      if (t.kind != TokenKind::kIdentifier && t.kind != TokenKind::kNot) {
        return Bad("found '", t.text, "', expected: !, identifier, or 'end of string'");
      }
      absl::StatusOr<Requirement> r = One();
      if (!r.ok()) return Bad("unable to parse requirement: ", r.status().message());
      out.push_back(*std::move(r));
      t = Next();
      if (t.kind == TokenKind::kEnd) return out;
      if (t.kind != TokenKind::kComma) return Bad("found '", t.text, "', expected: ',' or 'end of string'");
      Token after = Peek();
      if (after.kind != TokenKind::kIdentifier && after.kind != TokenKind::kNot) {
        return Bad("found '", after.text, "', expected: identifier after ','");
      }
    }
  }

 private:
  Symbol Intern(std::string_view text) { return keeper_ == nullptr ? Symbol(text) : keeper_->Intern(text); }
  // Where a value may occur, the words "in" and "notin" are identifiers.
  Token Peek() const {
    Token t = tokens_[std::min(pos_, tokens_.size() - 1)];
    if (t.kind == TokenKind::kIn || t.kind == TokenKind::kNotIn) t.kind = TokenKind::kIdentifier;
    return t;
  }
  Token Next() {
    Token t = Peek();
    ++pos_;
    return t;
  }

  absl::StatusOr<Requirement> One() {
    Token t = Next();
    bool negated = t.kind == TokenKind::kNot;
    if (negated) t = Next();
    if (t.kind != TokenKind::kIdentifier) return Bad("found '", t.text, "', expected: identifier");
    const Symbol key = Intern(t.text);
    if (auto checked = Requirement::Make(key, Operator::kExists, {}); !checked.ok()) return checked;
    if (negated) return Requirement::Make(key, Operator::kDoesNotExist, {});
    TokenKind next = Peek().kind;
    if (next == TokenKind::kEnd || next == TokenKind::kComma) return Requirement::Make(key, Operator::kExists, {});

    const Token& op = tokens_[std::min(pos_++, tokens_.size() - 1)];
    switch (op.kind) {
      case TokenKind::kIn:
        return Listed(key, Operator::kIn);
      case TokenKind::kNotIn:
        return Listed(key, Operator::kNotIn);
      case TokenKind::kEq:
      case TokenKind::kEqEq:
        return Single(key, Operator::kEquals);
      case TokenKind::kNotEq:
        return Single(key, Operator::kNotEquals);
      case TokenKind::kGt:
        return Single(key, Operator::kGreaterThan);
      case TokenKind::kLt:
        return Single(key, Operator::kLessThan);
      default:
        return Bad("found '", op.text, "', expected: '=', '!=', '==', 'in', notin'");
    }
  }

  absl::StatusOr<Requirement> Single(Symbol key, Operator op) {
    TokenKind next = Peek().kind;
    Symbol value;
    if (next != TokenKind::kEnd && next != TokenKind::kComma) {
      Token t = Next();
      if (t.kind != TokenKind::kIdentifier) return Bad("found '", t.text, "', expected: identifier");
      value = Intern(t.text);
    }
    return Requirement::Make(key, op, std::span(&value, 1));
  }

  absl::StatusOr<Requirement> Listed(Symbol key, Operator op) {
    Token open = Next();
    if (open.kind != TokenKind::kOpen) return Bad("found '", open.text, "' expected: '('");
    std::vector<Symbol> values;
    Token first = Peek();
    if (first.kind == TokenKind::kClose) {
      Next();
      values.emplace_back();  // "in ()" is a list with an empty value, as for the server
      return Requirement::Make(key, op, values);
    }
    if (first.kind != TokenKind::kIdentifier && first.kind != TokenKind::kComma) {
      return Bad("found '", first.text, "', expected: ',', ')' or identifier");
    }
    // A missing value between, before or after commas is the empty value.
    for (;;) {
      Token t = Next();
      Token after = Peek();
      if (t.kind == TokenKind::kIdentifier) {
        values.push_back(Intern(t.text));
        if (after.kind == TokenKind::kComma) continue;
        if (after.kind != TokenKind::kClose) return Bad("found '", after.text, "', expected: ',' or ')'");
      } else if (t.kind == TokenKind::kComma) {
        if (values.empty()) values.emplace_back();
        if (after.kind == TokenKind::kComma) {
          Next();
          values.emplace_back();
        }
        if (after.kind != TokenKind::kClose) continue;
        values.emplace_back();
      } else {
        return Bad("found '", t.text, "', expected: ',', or identifier");
      }
      Next();  // the ')'
      return Requirement::Make(key, op, values);
    }
  }

  std::vector<Token> tokens_;
  size_t pos_ = 0;
  util::SymbolKeeper* keeper_;
};

}  // namespace

absl::StatusOr<Selector> Selector::Parse(std::string_view text, util::SymbolKeeper* keeper) {
  absl::StatusOr<std::vector<Requirement>> requirements = Parser(text, keeper).Parse();
  if (!requirements.ok()) return requirements.status();
  return Selector(*std::move(requirements));
}

}  // namespace berth::api
