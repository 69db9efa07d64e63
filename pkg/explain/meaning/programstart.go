package meaning

import (
	"cmp"
	"fmt"
	"path"
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
	case ofBash.MatchString(command):
		return "its shell has no command " + command + ", which bash has"
	case strings.Contains(command, "/"):
		return command + " does not exist in the container"
	}
	return fmt.Sprintf("command %s was not found in the container", command)
}

// shellWords matches a line that only a shell can run: one of its own commands, or several commands.
var shellWords = lazyregexp.New(`^(?:exit|cd|export|set|source|\.|if|for|while|ulimit|umask|eval|exec|trap) |&&|\|\||[;|<>]`)

// ofBash matches commands that only bash and similar shells have.
var ofBash = lazyregexp.New(`^(?:source|\[\[|function|declare|shopt|pushd|popd|mapfile|readarray|let)$`)

// typographic are quotes that YAML and shells take as a part of a word.
const typographic = "“”„‘’«»"

// maxCommand is the maximum number of characters of a command with its arguments in a sentence.
const maxCommand = 50

// hasWindowsEnd reports whether a shell took a line end of Windows for a part of the command.
func hasWindowsEnd(command string) bool {
	command = strings.TrimRight(command, "'")
	return strings.HasSuffix(command, `\r`) || strings.HasSuffix(command, "^M")
}

// loaderAdvice returns advice on a command that the kernel does not find, or whose loader or interpreter it does not find.
func loaderAdvice(e *KnownError, c Container) string {
	file := cmp.Or(e.Subject, strings.Join(c.Arguments[:min(1, len(c.Arguments))], ""))
	if m := mountOf(file, c.Mounts); m != nil && m.Kind == "emptyDir" && len(m.Earlier) > 0 {
		return fmt.Sprintf("have init container %s put a program that needs no loader (built static) at %s, or run it in an image with its loader, that of its C library, which %s lacks", wording.Enumerate(m.Earlier, "or"), file, c.Image)
	}
	if e.Subject == "" {
		return fmt.Sprintf("save the script that container %s starts with the line ends of Unix (LF) and build image %s again, or use an image with the interpreter that its first line names; a program needs an image with its C library, or to be built without one (static)", c.Name, c.Image)
	}
	advice := notFoundAdvice(e, c)
	if m := mountOf(e.Subject, c.Mounts); m != nil {
		return fmt.Sprintf("if volume %s has it, run it in an image that has its loader, as that of another C library, or its interpreter, which %s lacks; otherwise, %s", m.Volume, c.Image, advice)
	}
	return advice
}

// notFoundAdvice returns advice on a command that the container does not have.
func notFoundAdvice(e *KnownError, c Container) string {
	switch {
	case hasWindowsEnd(e.Subject):
		return "save the script with the line ends of Unix (LF)"
	case strings.ContainsAny(e.Subject, typographic):
		return "replace the typographic quotes in the command of the pod template by straight ones"
	case strings.Contains(e.Subject, " "):
		if shellWords.MatchString(e.Subject) {
			return fmt.Sprintf("run the line with a shell, as an element of its own in command of container %s: [sh, -c, \"%s\"]", c.Name, wording.Shorten(e.Subject, maxCommand))
		}
		return fmt.Sprintf("give the program and each of its arguments as an element of its own in command of container %s, or only the arguments in args: those follow the entrypoint of image %s", c.Name, c.Image)
	case ofBash.MatchString(e.Subject):
		return scriptAdvice(e, c)
	case strings.HasPrefix(e.Subject, "-"):
		return fmt.Sprintf("begin command of container %s with a program, or leave it out if the arguments are for the entrypoint of image %s; in a script, the line before may lack its backslash", c.Name, c.Image)
	}
	if m := mountOf(e.Subject, c.Mounts); m != nil {
		return e.FileAdvice(c, c.Mounts) + fmt.Sprintf("; the volume hides what image %s has at %s", c.Image, m.Path)
	}
	if path.Ext(e.Subject) == ".sh" {
		return fmt.Sprintf("check whether image %s has %s, and the interpreter that its first line names: a line end of Windows (CRLF) is a part of that name", c.Image, e.Subject)
	}
	if len(c.Arguments) > 0 && isShell(c.Arguments[0]) && e.Subject != "" && !c.hasArgument(e.Subject) {
		return fmt.Sprintf("correct %s, which calls %s, or use an image that has it (image %s)", c.scriptText(), wording.Shorten(e.Subject, maxDetail), c.Image)
	}
	if name := path.Base(e.Subject); shellPath.MatchString(e.Subject) && name != "sh" {
		return fmt.Sprintf("begin command of container %s with /bin/sh, if image %s has that (Alpine does) and the script needs no %s, or use an image with %s", c.Name, c.Image, name, name)
	}
	if shellPath.MatchString(e.Subject) {
		return fmt.Sprintf("give the program itself in command of container %s, with each argument as an element of its own, as image %s has no %s; or use the image that was meant, or one with a shell", c.Name, c.Image, e.Subject)
	}
	first := strings.Join(c.Arguments[:min(1, len(c.Arguments))], "")
	if name := cmp.Or(e.Subject, first); path.Base(name) != path.Base(cmp.Or(first, name)) {
		return fmt.Sprintf("use an image that has %s, which container %s calls, or correct that call (image %s)", wording.Shorten(path.Base(name), maxDetail), c.Name, c.Image)
	}
	return fmt.Sprintf("correct the command of container %s, or use an image that has %s; its image is %s", c.Name, cmp.Or(wording.Shorten(e.Subject, maxDetail), "its program"), c.Image)
}
