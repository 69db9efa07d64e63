package meaning

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

func notFoundText(command string) string {
	switch {
	case command == "":
		return "its command does not exist in the container"
	case hasWindowsEnd(command):
		return "its script has the line ends of Windows (CRLF)"
	case strings.ContainsAny(command, typographic):
		return "command " + command + " was not found: its typographic quotes are a part of its name"
	case strings.Contains(command, " "):
		return "there is no program " + wording.Quoted(wording.Cut(command, maxCommand)) + ": its arguments are a part of its name"
	case strings.HasPrefix(command, "-"):
		return "there is no program " + wording.Quoted(wording.Cut(command, maxCommand)) + ": that is an argument"
	case strings.Contains(command, "/"):
		return command + " does not exist in the container"
	}
	return fmt.Sprintf("command %s was not found in the container", command)
}

// shellWords matches a line that only a shell can run: one of its own commands, or several commands.
var shellWords = lazyregexp.New(`^(?:exit|cd|export|set|source|\.|if|for|while|ulimit|umask|eval|exec|trap) |&&|\|\||[;|<>]`)

// typographic are quotes that YAML and shells take as a part of a word.
const typographic = "“”„‘’«»"

// maxCommand is the maximum number of characters of a command with its arguments in a sentence.
const maxCommand = 50

// hasWindowsEnd reports whether a shell took a line end of Windows for a part of the command.
func hasWindowsEnd(command string) bool {
	command = strings.TrimRight(command, "'")
	return strings.HasSuffix(command, `\r`) || strings.HasSuffix(command, "^M")
}
