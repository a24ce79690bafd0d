// The command completion: prints shell completion, generated from the table of commands.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "cmd/schedsim/command.h"
#include "pkg/util/completion.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

std::string Words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) absl::StrAppend(&out, out.empty() ? "" : " ", w);
  return out;
}

std::vector<std::string> CommandWords() {
  std::vector<std::string> out;
  for (const Command* c : Commands()) out.emplace_back(c->name);
  out.emplace_back("help");
  return out;
}

std::vector<std::string> FlagWords(const Command& c) {
  std::vector<std::string> out;
  const auto flags = FlagsOf(c);
  for (const auto& flag : flags.options()) out.push_back("--" + flag->long_name());
  return out;
}

// A word without a dash is a file, which bash completes by itself (-o default).
std::string Bash() {
  std::string out = absl::StrCat(
      "# bash completion for schedsim: source <(schedsim completion bash)\n"
      "_schedsim() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ] || { [ \"$COMP_CWORD\" -eq 2 ] && [ \"$command\" = help ]; }; then\n"
      "    COMPREPLY=($(compgen -W \"",
      Words(CommandWords()),
      "\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  local flags= outputs=\n"
      "  case $command in\n");
  for (const Command* c : Commands()) {
    absl::StrAppend(&out, "    ", util::ToAbsl(c->name));
    if (!c->alias.empty()) absl::StrAppend(&out, " | ", util::ToAbsl(c->alias));
    absl::StrAppend(&out, ")\n      flags=\"", Words(FlagWords(*c)), "\"\n      outputs=\"", util::ToAbsl(c->outputs),
                    "\" ;;\n");
  }
  return absl::StrCat(out,
                      "  esac\n"
                      "  case $before in\n"
                      "    -o | --output) COMPREPLY=($(compgen -W \"$outputs\" -- \"$word\")); return ;;\n"
                      "  esac\n"
                      "  case $word in\n"
                      "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
                      "  esac\n"
                      "}\n"
                      "complete -o default -F _schedsim schedsim\n");
}

using util::FishText;
using util::ZshText;

std::string Zsh() {
  std::string out =
      "#compdef schedsim\n"
      "# zsh completion for schedsim: schedsim completion zsh > \"${fpath[1]}/_schedsim\"\n"
      "_schedsim() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const Command* c : Commands()) {
    absl::StrAppend(&out, "    '", util::ToAbsl(c->name), ":", ZshText(c->summary), "'\n");
  }
  out +=
      "    'help:what a command does'\n"
      "  )\n"
      "  if (( CURRENT == 2 )) || [[ ${words[2]} == help ]]; then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=${words[2]}\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const Command* c : Commands()) {
    absl::StrAppend(&out, "    ", util::ToAbsl(c->name), ")\n      _arguments '*:file:_files'");
    const auto flags = FlagsOf(*c);
    for (const auto& flag : flags.options()) {
      const std::string& name = flag->long_name();
      const bool value = flag->semantic()->max_tokens() > 0;
      absl::StrAppend(&out, " \\\n        '", "--", name, value ? "=" : "", "[", ZshText(flag->description()), "]");
      if (name == "output") {
        absl::StrAppend(&out, ":format:(", util::ToAbsl(c->outputs), ")");
      } else if (value) {
        absl::StrAppend(&out, ":value:_files");
      }
      out += "'";
    }
    out += " ;;\n";
  }
  return out + "  esac\n}\n_schedsim \"$@\"\n";
}

// The flags of a command are offered behind its name.
std::string Fish() {
  std::string out =
      "# fish completion for schedsim: schedsim completion fish | source\n"
      "complete -c schedsim -n __fish_use_subcommand -f\n";
  for (const Command* c : Commands()) {
    const std::string name(c->name);
    absl::StrAppend(&out, "complete -c schedsim -n __fish_use_subcommand -f -a ", name, " -d '", FishText(c->summary),
                    "'\n");
    const std::string behind = absl::StrCat("complete -c schedsim -n '__fish_seen_subcommand_from ", name,
                                            c->alias.empty() ? "" : absl::StrCat(" ", util::ToAbsl(c->alias)), "' -l ");
    const auto flags = FlagsOf(*c);
    for (const auto& flag : flags.options()) {
      const bool value = flag->semantic()->max_tokens() > 0;
      absl::StrAppend(&out, behind, flag->long_name(), value ? " -r" : "");
      if (flag->long_name() == "output") absl::StrAppend(&out, " -s o -f -a '", util::ToAbsl(c->outputs), "'");
      absl::StrAppend(&out, " -d '", FishText(flag->description()), "'\n");
    }
  }
  return out;
}

int Completion(const Invocation& options, std::ostream& out) {
  const std::string& shell = options.files[0];
  out << (shell == "bash" ? Bash() : shell == "zsh" ? Zsh() : Fish());
  return kExitOk;
}

absl::Status CheckCompletion(const Invocation& options) {
  constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};
  const bool known = options.files.size() == 1 &&
                     std::find(std::begin(kShells), std::end(kShells), options.files[0]) != std::end(kShells);
  return known ? absl::OkStatus() : util::InvalidArgument("completion: say for which shell: bash, zsh or fish");
}

}  // namespace

extern const Command kCompletionCommand = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .summary = "print completion for a shell",
    .examples = "  source <(schedsim completion bash)\n",
    .check = CheckCompletion,
    .run = Completion,
};

}  // namespace berth::schedsim
