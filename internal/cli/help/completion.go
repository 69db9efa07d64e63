package help

import "github.com/spf13/cobra"

const CompletionLong = `Print the script with which a shell completes kubectl-batchjob.

It is for those who call kubectl-batchjob directly. "kubectl batchjob" is
completed by kubectl's own completion (1.26 and newer), which looks on your PATH
for an executable called kubectl_complete-batchjob. "make install" puts it
beside the plugin. Krew does not, but this does:

  cd ~/.krew/bin
  printf '#!/bin/sh\nexec kubectl-batchjob __complete "$@"\n' \
    >kubectl_complete-batchjob
  chmod +x kubectl_complete-batchjob

How to load kubectl's own completion: kubectl completion --help`

const completionExample = `  # kubectl-batchjob in this bash
  source <(kubectl-batchjob completion bash)`

// shellHelp is what the commands below completion say.
type shellHelp struct{ intro, example string }

func shellHelps() map[string]shellHelp {
	return map[string]shellHelp{
		"bash": {"It needs the package bash-completion.", `  # In this shell
  source <(kubectl-batchjob completion bash)

  # In every new one
  echo 'source <(kubectl-batchjob completion bash)' >>~/.bashrc`},
		"zsh": {"It needs compinit, which most set-ups of zsh load.", `  # In this shell
  source <(kubectl-batchjob completion zsh)

  # In every new one
  echo 'source <(kubectl-batchjob completion zsh)' >>~/.zshrc`},
		"fish": {"", `  # In this shell
  kubectl-batchjob completion fish | source

  # In every new one
  cd ~/.config/fish/completions
  kubectl-batchjob completion fish >kubectl-batchjob.fish`},
		"powershell": {"", `  # In this shell; in every new one with the same line in $PROFILE
  kubectl-batchjob completion powershell | Out-String | Invoke-Expression`},
	}
}

// describeCompletion says of cobra's completion command what users of kubectl should do.
func describeCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic("completion: " + err.Error())
	}
	completion.Short = "Print a completion script, for use without kubectl"
	completion.Long, completion.Example = CompletionLong, completionExample
	for _, shell := range completion.Commands() {
		help := shellHelps()[shell.Name()]
		shell.Short = "Print the completion script for " + shell.Name()
		shell.Long = "Print the script with which " + shell.Name() + " completes kubectl-batchjob.\n"
		if help.intro != "" {
			shell.Long += help.intro + "\n"
		}
		shell.Long += `
For "kubectl batchjob" see: kubectl batchjob completion --help`
		shell.Example = help.example
		if f := shell.Flags().Lookup("no-descriptions"); f != nil {
			f.Usage = "Complete words without their descriptions."
		}
	}
}
