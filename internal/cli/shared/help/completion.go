package help

import "github.com/spf13/cobra"

// CompletionLong is the description of the command completion. A test runs the script in it.
const CompletionLong = `Print a script that completes kubectl-batchjob in a shell.

You need it only if you run kubectl-batchjob directly. For "kubectl batchjob",
kubectl's own completion (1.26 and newer) looks on your PATH for an executable
called kubectl_complete-batchjob. "make install" installs it next to the plugin.
Krew does not, but this does:

  cd ~/.krew/bin
  printf '#!/bin/sh\nexec kubectl-batchjob __complete "$@"\n' \
    >kubectl_complete-batchjob
  chmod +x kubectl_complete-batchjob

To load kubectl's own completion, see: kubectl completion --help`

const completionExample = `  # Complete kubectl-batchjob in the current bash
  source <(kubectl-batchjob completion bash)`

// shellHelp is the help of one shell's completion command.
type shellHelp struct{ intro, example string }

func shellHelps() map[string]shellHelp {
	return map[string]shellHelp{
		"bash": {"It requires the package bash-completion.", `  # In the current shell
  source <(kubectl-batchjob completion bash)

  # In every new shell
  echo 'source <(kubectl-batchjob completion bash)' >>~/.bashrc`},
		"zsh": {"It requires compinit, which most zsh setups load.", `  # In the current shell
  source <(kubectl-batchjob completion zsh)

  # In every new shell
  echo 'source <(kubectl-batchjob completion zsh)' >>~/.zshrc`},
		"fish": {"", `  # In the current shell
  kubectl-batchjob completion fish | source

  # In every new shell
  cd ~/.config/fish/completions
  kubectl-batchjob completion fish >kubectl-batchjob.fish`},
		"powershell": {"", `  # In the current shell; for every new one, add this line to $PROFILE
  kubectl-batchjob completion powershell | Out-String | Invoke-Expression`},
	}
}

// describeCompletion replaces the help of cobra's completion command with advice for users of kubectl.
func describeCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic("completion: " + err.Error())
	}
	completion.Short = "Print a completion script for use without kubectl"
	completion.Long, completion.Example = CompletionLong, completionExample
	for _, shell := range completion.Commands() {
		help := shellHelps()[shell.Name()]
		shell.Short = "Print the completion script for " + shell.Name()
		shell.Long = "Print a script that completes kubectl-batchjob in " + shell.Name() + ".\n"
		if help.intro != "" {
			shell.Long += help.intro + "\n"
		}
		shell.Long += `
For "kubectl batchjob", see: kubectl batchjob completion --help`
		shell.Example = help.example
		if f := shell.Flags().Lookup("no-descriptions"); f != nil {
			f.Usage = "Complete words without descriptions."
		}
	}
}
