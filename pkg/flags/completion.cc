#include "pkg/flags/completion.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include "pkg/util/status.h"

namespace berth::flags {
namespace {

std::vector<const Flag*> Completed(const FlagSet& flags) {
  std::vector<const Flag*> out = flags.Listed();
  std::erase_if(out, [](const Flag* f) { return f->deprecated; });
  return out;
}

// Returns the first sentence.
std::string Brief(const std::string& text) {
  size_t end = 0;
  while (end < text.size() && text[end] != '\n' &&
         (text[end] != '.' || (end + 1 < text.size() && text[end + 1] != ' ' && text[end + 1] != '\n'))) {
    ++end;
  }
  return text.substr(0, end);
}

// Return text inside single quotes as fish reads it, and as zsh's _arguments does, in which brackets and colons have a
// meaning.
std::string FishText(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}, {"\n", " "}});
}

std::string ZshText(const std::string& text) {
  return absl::StrReplaceAll(text, {{"'", "'\\''"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"\n", " "}});
}

// Return the flags as each shell wants them, beginning with `before`.
std::string BashFlags(const FlagSet& flags) {
  std::string out;
  for (const Flag* f : Completed(flags)) absl::StrAppend(&out, out.empty() ? "" : " ", "--", f->name);
  return out;
}

std::string ZshFlags(const std::string& before, const FlagSet& flags, const std::string& outputs) {
  std::string out;
  for (const Flag* f : Completed(flags)) {
    absl::StrAppend(&out, before, "'--", f->name, f->TakesValue() ? "=" : "", "[", ZshText(Brief(f->purpose)), "]");
    if (!outputs.empty() && f->name == "output") {
      absl::StrAppend(&out, ":format:(", outputs, ")'");
    } else {
      absl::StrAppend(&out, f->TakesValue() ? ":value:_files'" : "'");
    }
  }
  return out;
}

std::string FishFlags(const std::string& before, const FlagSet& flags, const std::string& outputs) {
  std::string out;
  for (const Flag* f : Completed(flags)) {
    absl::StrAppend(&out, before, " -l ", f->name, f->TakesValue() ? " -r" : "");
    if (!outputs.empty() && f->name == "output") absl::StrAppend(&out, " -s o -f -a '", outputs, "'");
    absl::StrAppend(&out, " -d '", FishText(Brief(f->purpose)), "'\n");
  }
  return out;
}

// What shells read. @program, @function, @names, @cases and @flags stand for what differs. A word without a dash is a
// file, which bash completes by itself (-o default); in fish, the flags of a command are offered behind its name.
constexpr char kBash[] = R"sh(# bash completion for @program: source <(@program completion bash)
@function() {
  COMPREPLY=()
  case ${COMP_WORDS[COMP_CWORD]} in
    -*) COMPREPLY=($(compgen -W "@flags" -- "${COMP_WORDS[COMP_CWORD]}")) ;;
  esac
}
complete -o default -F @function @program
)sh";
constexpr char kBashOfCommands[] = R"sh(# bash completion for @program: source <(@program completion bash)
@function() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; }; then
    COMPREPLY=($(compgen -W "@nameshelp" -- "$word"))
    return
  fi
  local flags= outputs=
  case $command in
@cases  esac
  case $before in
    -o | --output) COMPREPLY=($(compgen -W "$outputs" -- "$word")); return ;;
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
  esac
}
complete -o default -F @function @program
)sh";
constexpr char kZsh[] = R"sh(#compdef @program
# zsh completion for @program: @program completion zsh > "${fpath[1]}/_@program"
)sh";
constexpr char kZshOfCommands[] = R"sh(@function() {
  local -a commands
  commands=(
@names    'help:what a command does'
  )
  if (( CURRENT == 2 )) || [[ ${words[2]} == help ]]; then
    _describe command commands
    return
  fi
  local command=${words[2]}
  shift words
  (( CURRENT-- ))
  case $command in
@cases  esac
}
@function "$@"
)sh";
constexpr char kFish[] = "# fish completion for @program: @program completion fish | source\n";

// Fills in what differs. A function's name has no dashes in every shell.
std::string Filled(const std::string& text, const std::string& program, const std::string& flags,
                   const std::string& names = "", const std::string& cases = "") {
  const std::string function = absl::StrCat("_", absl::StrReplaceAll(program, {{"-", "_"}}));
  return absl::StrReplaceAll(
      text, {{"@program", program}, {"@function", function}, {"@flags", flags}, {"@names", names}, {"@cases", cases}});
}

absl::Status WhichShell() {
  return util::InvalidArgument("completion: say for which shell: bash, zsh or fish");
}

}  // namespace

absl::StatusOr<std::string> CompletionFor(std::string_view shell, const std::string& program, const FlagSet& flags) {
  if (shell == "bash") return Filled(kBash, program, BashFlags(flags));
  if (shell == "zsh") {
    return Filled(absl::StrCat(kZsh, "_arguments@flags\n"), program, ZshFlags(" \\\n  ", flags, ""));
  }
  if (shell != "fish") return WhichShell();
  return Filled(absl::StrCat(kFish, "@flags"), program, FishFlags(absl::StrCat("complete -c ", program), flags, ""));
}

absl::StatusOr<std::string> CompletionFor(std::string_view shell, const std::string& program,
                                          const std::vector<CompletedCommand>& commands) {
  if (shell != "bash" && shell != "zsh" && shell != "fish") return WhichShell();
  const std::string complete = absl::StrCat("complete -c ", program, " -n ");
  std::string names, cases;
  for (const CompletedCommand& c : commands) {
    const auto with_alias = [&](const char* between) { return c.alias.empty() ? c.name : c.name + between + c.alias; };
    if (shell == "bash") {
      absl::StrAppend(&names, c.name, " ");
      absl::StrAppend(&cases, "    ", with_alias(" | "), ")\n      flags=\"", BashFlags(c.flags),
                      "\"\n      outputs=\"", c.outputs, "\" ;;\n");
    } else if (shell == "zsh") {
      absl::StrAppend(&names, "    '", c.name, ":", ZshText(c.summary), "'\n");
      absl::StrAppend(&cases, "    ", c.name, ")\n      _arguments '*:file:_files'",
                      ZshFlags(" \\\n        ", c.flags, c.outputs), " ;;\n");
    } else {
      const std::string behind = absl::StrCat(complete, "'__fish_seen_subcommand_from ", with_alias(" "), "'");
      absl::StrAppend(&cases, complete, "__fish_use_subcommand -f -a ", c.name, " -d '", FishText(c.summary), "'\n",
                      FishFlags(behind, c.flags, c.outputs));
    }
  }
  if (shell == "bash") return Filled(kBashOfCommands, program, "", names, cases);
  if (shell == "zsh") return Filled(absl::StrCat(kZsh, kZshOfCommands), program, "", names, cases);
  return Filled(absl::StrCat(kFish, complete, "__fish_use_subcommand -f\n@cases"), program, "", "", cases);
}

}  // namespace berth::flags
