package meaning

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

var (
	// onlyBash matches what a plain shell cannot read, and parenthesis one that begins no substitution.
	onlyBash    = lazyregexp.New(`\[\[|<\(|>\(|<<<|\w=\(|\bfunction \w`)
	parenthesis = lazyregexp.New(`(?:^|[^$])\(`)
	// unexpectedSign matches the sign that a shell does not expect.
	unexpectedSign = lazyregexp.New(`unexpected "?(\(|\))"?|"(\(|\))" unexpected`)
)

// scriptAdvice returns advice on a script that a shell cannot read. A shell takes a program that the machine cannot execute for a script,
// and complains about a sign which the script in the template does not have.
func scriptAdvice(e *KnownError, c Container) string {
	if strings.Contains(e.Subject, "nd of file") || strings.Contains(e.Subject, "EOF") || strings.Contains(e.Subject, "nterminated") {
		return fmt.Sprintf("close what the script of container %s begins: a quote, a bracket, or if, for, while and case (fi, done, esac)", c.Name)
	}
	script := ""
	if len(c.Arguments) > 0 {
		script = c.Arguments[len(c.Arguments)-1]
	}
	hasScript := len(c.Arguments) > 1 && isShell(c.Arguments[0]) && strings.HasPrefix(c.Arguments[1], "-") && strings.Contains(c.Arguments[1], "c")
	if hasScript && unexpectedSign.MatchString(e.Subject) && !onlyBash.MatchString(script) && !parenthesis.MatchString(script) {
		return fmt.Sprintf("build the image of container %s (%s) for the architecture of its node: the script in the template has nothing that a shell cannot read, so the shell most likely read a program for another architecture as a script", c.Name, c.Image)
	}
	return fmt.Sprintf("correct the script of container %s, or run it with the shell that it is written for: arrays and [[ need bash, as do source, pipefail and ${X//a/b}, while sh is dash or BusyBox in many images", c.Name)
}

// scriptLine matches the line that a shell names in the script of its command line.
var scriptLine = lazyregexp.New(`^(?:/\S*/)?[a-z]*sh: (?:-c: )?(?:line )?(\d+): `)

// lineOfScript quotes the line of the container's script that the error names, "" if it names none of several.
func (q *Clue) lineOfScript(c *Container) string {
	last := len(c.Arguments) - 1
	if last < 1 || !isShell(c.Arguments[0]) {
		return ""
	}
	lines := strings.Split(strings.TrimRight(c.Arguments[last], " \n"), "\n")
	n, _ := strconv.Atoi(scriptLine.Group(q.Words))
	if len(lines) == 1 || n < 1 || n > len(lines) || strings.TrimSpace(lines[n-1]) == "" {
		return ""
	}
	line := strings.TrimSpace(lines[n-1])
	switch name, _, _ := strings.Cut(q.Words[len(scriptLine.FindString(q.Words)):], ":"); {
	case !strings.Contains(name, " ") && !strings.Contains(line, name): // It is a line of another script, which this one runs.
		return ""
	case confidential.MatchString(line):
		return fmt.Sprintf("the error is in line %d of its script", n)
	}
	return fmt.Sprintf("line %d of its script is %s", n, wording.Quoted(wording.Shorten(line, maxCommand)))
}

// connecting matches the names of variables that say where and as whom a program connects.
var connecting = lazyregexp.New(`(?:^|_)(?:HOST(?:NAME)?|SERVER|ADDR(?:ESS)?|ENDPOINT|USER(?:NAME)?|DATABASE|DB(?:_?NAME)?)$`)

// connection names the variables that say where and as whom the program connects, with their values; "" without any.
func (c *Container) connection() string {
	const most = 4
	var all []string
	for i := range c.Variables {
		if v := &c.Variables[i]; connecting.MatchString(v.Name) && v.Value != "" && len(all) < most {
			all = append(all, v.Name+" "+wording.Shorten(v.Value, maxCommand))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "container " + c.Name + " has " + wording.Enumerate(all, "and")
}

// scriptText names the script that the container runs.
func (c *Container) scriptText() string {
	if file := lists.First(c.Arguments, func(a *string) bool { return strings.HasPrefix(*a, "/") && !strings.HasSuffix(*a, "sh") }); file != nil && isShell(c.Arguments[0]) {
		return "script " + *file + " of container " + c.Name
	}
	return "the script or program that container " + c.Name + " runs"
}

// isShell reports whether a command is a shell.
func isShell(command string) bool { return strings.HasSuffix(command, "sh") }

// shellPath matches a common shell as the command of a container.
var shellPath = lazyregexp.New(`^(?:/(?:usr/)?bin/)?(?:ba|da|a|z)?sh$`)

// wrongArchitectureText describes a file that the node cannot execute. A script without its #! line cannot be executed, either.
func wrongArchitectureText(file string) string {
	switch path.Ext(file) {
	case ".sh", ".bash", ".py", ".pl", ".rb", ".js":
		return fmt.Sprintf("exec format error, the script %s has no #! line, or the image is for another architecture than the node", file)
	}
	return "exec format error, the image is for another architecture than the node"
}
