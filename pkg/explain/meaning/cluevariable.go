package meaning

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// missingField matches the first field that settings of Pydantic lack, which come from variables.
var missingField = lazyregexp.New(`validation errors? for \w*(?:Settings|Config)\w*\W+(\w+)\b.*(?i:field required)`)

// namedField is the clue of a field of settings without a value.
func namedField(q *Clue, c *Container) string {
	field := missingField.Group(q.Words)
	if field == "" {
		return ""
	}
	text := variableAdvice(&KnownError{Subject: strings.ToUpper(field)}, *c)
	return text + "; settings of Pydantic come from variables, some with a prefix before their names"
}

// reference matches a reference to a variable in the value of another.
var reference = lazyregexp.New(`\$\(([A-Za-z_]\w*)\)`)

// inShell matches an argument with a variable as a shell has it.
var inShell = lazyregexp.New(`(?:^|[=/@:])\$\{?([A-Z][A-Z0-9_]+)\b\}?`)

// unexpanded is the clue of an argument with a variable that only a shell would replace.
func unexpanded(_ *Clue, c *Container) string {
	if slices.ContainsFunc(c.Arguments, func(argument string) bool { return argument == "-c" || isShell(argument) }) {
		return ""
	}
	for _, argument := range c.Arguments {
		if name := inShell.Group(argument); name != "" && !strings.Contains(argument, "\n") {
			return fmt.Sprintf("write $(%s) for this variable in %s: without a shell, only that form is replaced by its value", name, c.inArguments())
		}
	}
	return ""
}

// undefinedReference is the clue of a variable that refers to one which the template does not define: it keeps the reference as text.
func undefinedReference(_ *Clue, c *Container) string {
	if len(c.Sources) > 0 {
		return "" // They may define it.
	}
	for i := range c.Variables {
		v := &c.Variables[i]
		for _, m := range reference.FindAllStringSubmatch(v.Value, -1) {
			defined := func(other Variable) bool { return other.Name == m[1] }
			if !strings.Contains(v.Value, "$$("+m[1]) && !slices.ContainsFunc(c.Variables[:i], defined) && !strings.HasSuffix(m[1], "_SERVICE_HOST") && !strings.Contains(m[1], "_SERVICE_PORT") {
				return fmt.Sprintf("define variable %s before %s in env of container %s: the value of %s refers to it as $(%s), and keeps that text", m[1], v.Name, c.Name, v.Name, m[1])
			}
		}
	}
	runsScript := slices.ContainsFunc(c.Arguments, func(argument string) bool { return argument == "-c" || isShell(argument) })
	for _, argument := range c.Arguments {
		m := reference.FindStringSubmatch(argument)
		if m != nil && !runsScript && constants.MatchString(m[1]) && !anyway.MatchString(m[1]) && !strings.Contains(argument, "$"+m[0]) && c.variable(m[1]) == nil {
			return fmt.Sprintf("define variable %s in env of container %s: its command or args refer to it as $(%s), and keep that text", m[1], c.Name, m[1])
		}
	}
	return ""
}

// inScript matches the variables that a script uses, except those with a default; anyway those that containers have anyway.
var (
	inScript = lazyregexp.New(`\$(?:\{([A-Z][A-Z0-9_]+)\}|([A-Z][A-Z0-9_]+)\b)`)
	// setsMore matches scripts that may set variables by other means than an assignment.
	setsMore = lazyregexp.New(`(?m)(?:^|[;&|])\s*(?:\.|source|eval)\s|<<|\b(?:awk|getopts|read|export -f)\b`)
	anyway   = lazyregexp.New(`^(?:HOME|PATH|PWD|OLDPWD|HOSTNAME|USER|SHELL|RANDOM|SECONDS|UID|EUID|IFS|LINENO|PIPESTATUS|REPLY|PPID|FUNCNAME|LANG|TERM|JAVA_HOME|BASH\w*|KUBERNETES_\w+|\w+_SERVICE_(?:HOST|PORT)\w*)$`)
)

// undefinedInScript is the clue of a variable that the script in the template uses, and that neither defines.
func undefinedInScript(_ *Clue, c *Container) string {
	if len(c.Arguments) == 0 || !isShell(c.Arguments[0]) || len(c.Sources) > 0 {
		return ""
	}
	script := strings.Join(c.Arguments, "\n")
	if setsMore.MatchString(script) {
		return ""
	}
	for _, m := range inScript.FindAllStringSubmatch(script, -1) {
		name := m[1] + m[2]
		isSet := strings.Contains(script, name+"=") || strings.Contains(script, name+":=") || strings.Contains(script, "for "+name+" ")
		if !isSet && c.variable(name) == nil && !anyway.MatchString(name) {
			return fmt.Sprintf("set %s in env of container %s, unless its image does: its script uses it, and the template does not define it", name, c.Name)
		}
	}
	return ""
}

// constants matches words that may be names of variables.
var constants = lazyregexp.New(`\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b`)

// namedVariable is the clue of a variable of the pod template: of its name, or of at least the last two words of that, in any spelling.
func namedVariable(q *Clue, c *Container) string {
	const least = 8
	for _, m := range constants.FindAllStringSubmatch(q.Words, -1) {
		if v := c.variable(m[0]); v != nil {
			return "correct " + c.placeOf(v)
		}
	}
	words := strings.ToLower(q.Words)
	for i := range c.Variables {
		parts := strings.FieldsFunc(strings.ToLower(c.Variables[i].Name), func(r rune) bool { return r == '_' })
		parts = parts[max(0, len(parts)-2):]
		isLong := len(parts) > 1 && len(parts[0])+len(parts[1]) >= least && !strings.HasPrefix(c.Variables[i].From, "field ")
		if isLong && regexp.MustCompile(`\b`+regexp.QuoteMeta(parts[0])+`[ _.-]*`+regexp.QuoteMeta(parts[1])+`\b`).MatchString(words) {
			return "correct " + c.placeOf(&c.Variables[i])
		}
	}
	return ""
}

// listedName matches the name of a variable alone in a line, or before what is wrong with it.
var listedName = lazyregexp.New(`^\W*([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:\W*$|: )`)

// listedVariable is the clue of a variable of the template in the lines after the error, which list what is wrong.
func listedVariable(q *Clue, c *Container) string {
	_, from := q.split()
	for _, line := range from {
		if v := c.variable(listedName.Group(line)); v != nil {
			return "check " + c.placeOf(v)
		}
	}
	return ""
}
