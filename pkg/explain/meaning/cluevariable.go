package meaning

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// reference matches a reference to a variable in the value of another.
var reference = lazyregexp.New(`\$\(([A-Za-z_]\w*)\)`)

// inShell matches an argument with a variable as a shell has it.
var inShell = lazyregexp.New(`(?:^|[=/@:])\$\{?([A-Z][A-Z0-9_]+)\b\}?`)

// operator matches what only a shell reads, as an argument of its own: a redirection, a pipe, or what is between commands.
var operator = lazyregexp.New(`^[12&]?[<>&|]{1,2}(?:[^=<>&|\d\s]\S*)?$`)

var (
	// expanded matches what only a shell replaces: the output of a command, a pattern of names, the home.
	expanded = lazyregexp.New(`\$\((?:[a-z]\S* [^)]*|date|hostname|pwd)\)|^[/\w.-]*\*[\w.*/-]*$|^~/\S*`)
	// positional matches the arguments of a script in itself.
	positional = lazyregexp.New(`\$\{?[0-9@*#]|\b(?:shift|getopts)\b`)
)

// unread is the clue of an argument with an operator or a variable that only a shell would read, or that comes after the script of a shell.
// Values of options may be signs, and programs may know patterns.
func unread(q *Clue, c *Container) string {
	for i, argument := range c.Arguments {
		name := inShell.Group(argument)
		isValue := (argument == "|" || argument == "<") && strings.HasPrefix(c.Arguments[max(0, i-1)], "-")
		switch {
		case argument == "-c", isShell(argument):
			return afterScript(c, i)
		case expanded.MatchString(argument) && strings.Contains(q.Words, expanded.FindString(argument)) && (utility.MatchString(q.Words) || !strings.Contains(argument, "*")):
			return fmt.Sprintf("run the whole line of container %s with a shell, as one element: command [sh, -c, \"… %s\"], in an image that has one (now %s): only a shell replaces %s", c.Name, wording.Shorten(argument, maxCommand), c.Image, wording.Shorten(expanded.FindString(argument), maxCommand))
		case operator.MatchString(argument) && !isValue:
			line := wording.Shorten(strings.Join(c.Arguments[i:min(i+2, len(c.Arguments))], " "), maxCommand)
			advice := fmt.Sprintf("run the whole line of container %s with a shell, as one element: command [sh, -c, \"… %s\"], in an image that has one (now %s): without a shell, its program gets %s as an argument", c.Name, line, c.Image, argument)
			if argument == ">" || argument == ">>" {
				advice += "; the file is lost with the pod, unless it is in a volume"
			}
			return advice
		case name != "" && !strings.Contains(argument, "\n"):
			return fmt.Sprintf("write $(%s) for this variable in %s: without a shell, only that form is replaced by its value", name, c.inArguments())
		}
	}
	return ""
}

// afterScript is advice on elements after the script of the shell at a position, which that does not run; "" if it may be meant so.
func afterScript(c *Container, at int) string {
	if at+3 >= len(c.Arguments) || c.Arguments[at+1] != "-c" || positional.MatchString(c.Arguments[at+2]) {
		return ""
	}
	script, rest := c.Arguments[at+2], c.Arguments[at+3:]
	if strings.ContainsAny(script, " \n") && !slices.ContainsFunc(rest, operator.MatchString) {
		return ""
	}
	return fmt.Sprintf("give the whole line as one element after -c in command or args of container %s: its shell runs only %s, and takes %s and what follows for $0, $1 and so on", c.Name, wording.Quoted(wording.Shorten(script, maxCommand)), wording.Shorten(rest[0], maxCommand))
}

// ofValue matches what errors say about a value that programs have from outside.
var ofValue = lazyregexp.New(`(?i)\$\(|\b(?:ur[il]|dsn|host|port|user|password|token|key|database|version|name|address|bucket)\b|connect|auth|login|denied|credential|option|argument|invalid|pars(?:e|ing)|unknown|unsupported|not a |missing|requir|empty`)

// serviceVariable matches the variables that the kubelet adds for Services.
var serviceVariable = lazyregexp.New(`_SERVICE_(?:HOST$|PORT)`)

// undefinedBefore returns the names of variables to which the value of the one at a place refers, and which none before it has.
func undefinedBefore(all []Variable, at int) (missing []string) {
	value := all[at].Value
	for _, m := range reference.FindAllStringSubmatch(value, -1) {
		isDefined := slices.ContainsFunc(all[:at], func(other Variable) bool { return other.Name == m[1] })
		if !isDefined && !strings.Contains(value, "$$("+m[1]) && !serviceVariable.MatchString(m[1]) && !slices.Contains(missing, m[1]) {
			missing = append(missing, m[1])
		}
	}
	return missing
}

// undefinedReference is the clue of a variable that refers to one which the template does not define: it keeps the reference as text.
func undefinedReference(q *Clue, c *Container) string {
	if len(c.Sources) > 0 || !ofValue.MatchString(q.Words) { // Sources may define it.
		return ""
	}
	for i := range c.Variables {
		v, missing := &c.Variables[i], undefinedBefore(c.Variables, i)
		if n := len(missing); n > 0 {
			return fmt.Sprintf("define %s %s before %s in env of container %s: the value of %s refers to %s as $(%s), and keeps that text", wording.Form(n, "variable", "variables"), wording.Enumerate(missing, "and"),
				v.Name, c.Name, v.Name, wording.Form(n, "it", "them"), missing[0])
		}
	}
	if slices.ContainsFunc(c.Arguments, func(argument string) bool { return argument == "-c" || isShell(argument) }) {
		return ""
	}
	for _, argument := range c.Arguments {
		m := reference.FindStringSubmatch(argument)
		if m != nil && (constants.MatchString(m[1]) || strings.Contains(q.Words, m[0])) && !anyway.MatchString(m[1]) && !strings.Contains(argument, "$"+m[0]) && c.variable(m[1]) == nil {
			return fmt.Sprintf("define variable %s in env of container %s: its command or args refer to it as $(%s), and keep that text", m[1], c.Name, m[1])
		}
	}
	return ""
}

// anyway matches the variables that containers and shells have anyway.
var anyway = lazyregexp.New(`^(?:HOME|PATH|PWD|OLDPWD|HOSTNAME|USER|SHELL|RANDOM|SECONDS|UID|EUID|IFS|LINENO|PIPESTATUS|REPLY|PPID|FUNCNAME|LANG|TERM|JAVA_HOME|BASH\w*|KUBERNETES_\w+|\w+_SERVICE_(?:HOST|PORT)\w*)$`)

// constants matches words that may be names of variables.
var constants = lazyregexp.New(`\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b`)

// spokenVariable returns the variable of the template that a text names: by its name, or by at least the last two words of that, in any
// spelling; nil without one.
func (c *Container) spokenVariable(text string) *Variable {
	const least = 8
	for _, m := range constants.FindAllStringSubmatch(text, -1) {
		if v := c.variable(m[0]); v != nil {
			return v
		}
	}
	for i := range c.Variables {
		parts := strings.FieldsFunc(c.Variables[i].Name, func(r rune) bool { return r == '_' })
		parts = parts[max(0, len(parts)-2):]
		isLong := len(parts) > 1 && len(parts[0])+len(parts[1]) >= least && !strings.HasPrefix(c.Variables[i].From, "field ")
		if isLong && regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(parts[0])+`[ _.-]*`+regexp.QuoteMeta(parts[1])+`\b`).MatchString(text) {
			return &c.Variables[i]
		}
	}
	return nil
}

// namedVariable is the clue of a variable of the pod template in the error.
func namedVariable(q *Clue, c *Container) string {
	if v := c.spokenVariable(q.Words); v != nil {
		return "correct " + c.placeOf(v)
	}
	return ""
}
