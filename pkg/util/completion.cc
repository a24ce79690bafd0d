#include "pkg/util/completion.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include "pkg/util/status.h"

namespace berth::util {
namespace {

std::string BashFor(const std::string& program, const std::vector<CompletedFlag>& flags) {
  std::string names;
  for (const CompletedFlag& f : flags) absl::StrAppend(&names, names.empty() ? "" : " ", "--", f.name);
  // A function's name has no dashes in every shell.
  const std::string function = absl::StrCat("_", absl::StrReplaceAll(program, {{"-", "_"}}));
  return absl::StrCat("# bash completion for ", program, ": source <(", program, " completion bash)\n", function,
                      "() {\n  COMPREPLY=()\n  case ${COMP_WORDS[COMP_CWORD]} in\n    -*) COMPREPLY=($(compgen -W \"",
                      names, "\" -- \"${COMP_WORDS[COMP_CWORD]}\")) ;;\n  esac\n}\ncomplete -o default -F ", function,
                      " ", program, "\n");
}

std::string ZshFor(const std::string& program, const std::vector<CompletedFlag>& flags) {
  std::string out = absl::StrCat("#compdef ", program, "\n# zsh completion for ", program, ": ", program,
                                 " completion zsh > \"${fpath[1]}/_", program, "\"\n_arguments");
  for (const CompletedFlag& f : flags) {
    absl::StrAppend(&out, " \\\n  '--", f.name, f.takes_value ? "=" : "", "[", ZshText(f.help), "]",
                    f.takes_value ? ":value:_files" : "", "'");
  }
  return out + "\n";
}

std::string FishFor(const std::string& program, const std::vector<CompletedFlag>& flags) {
  std::string out = absl::StrCat("# fish completion for ", program, ": ", program, " completion fish | source\n");
  for (const CompletedFlag& f : flags) {
    absl::StrAppend(&out, "complete -c ", program, " -l ", f.name, f.takes_value ? " -r" : "", " -d '",
                    FishText(f.help), "'\n");
  }
  return out;
}

}  // namespace

std::string FishText(std::string_view text) {
  return absl::StrReplaceAll(ToAbsl(text), {{"\\", "\\\\"}, {"'", "\\'"}, {"\n", " "}});
}

std::string ZshText(std::string_view text) {
  return absl::StrReplaceAll(ToAbsl(text), {{"'", "'\\''"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"\n", " "}});
}

absl::StatusOr<std::string> CompletionFor(std::string_view shell, std::string_view program,
                                          const std::vector<CompletedFlag>& flags) {
  const std::string name(program);
  if (shell == "bash") return BashFor(name, flags);
  if (shell == "zsh") return ZshFor(name, flags);
  if (shell == "fish") return FishFor(name, flags);
  return InvalidArgument("completion: say for which shell: bash, zsh or fish");
}

}  // namespace berth::util
