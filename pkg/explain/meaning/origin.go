package meaning

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

var (
	// givenWords finds the words of an error that the pod template may have: what is in quotes, addresses, paths, names of several parts,
	// versions and numbers.
	givenWords = lazyregexp.New(`["'\x60“‘]([^"'\x60”’]{1,60})["'\x60”’]|\b([a-z][\w+.-]*://` + inURL + `+)|(?:^|[\s(=])(/[\w.-]+(?:/[\w.*-]+)+)|` +
		`\b([a-zA-Z]\w*(?:[.:@/-]\w+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+|\d+(?:\.\d+)+|\d{3,})\b`)
	// unfit matches what programs say about a value that they cannot use.
	unfit = lazyregexp.New(`(?i)\b(?:in|un)valid\b|\bunknown\b|\bpars(?:e|ing)\b|\bconvert|\bnot (?:a )?(?:valid|number|integer|boolean)|\bmust be (?:a|an|one|greater|less|at least|between|positive)\b|\bunsupported|out of range`)
	// switches matches common options without a value.
	switches = lazyregexp.New(`^(?:-[vqyrxe]|--(?:install|force|yes|wait|atomic|debug|verbose|quiet|recursive|dry-run|no-\S+))$`)
	// fetching matches the call of a program with the options of curl and wget that have no value.
	fetching = lazyregexp.New(`\b(?:curl|wget)\b[^\n;&|]*\s-[fsSkLivgIqc]+ ["']?\S*$`)
	// printing matches a command that prints a message.
	printing = lazyregexp.New(`\b(?:echo|printf?|console\.\w+|raise|throw|die)\b`)
	// optionBefore matches an option, and the part of its value, at the end of what is before a word in a command.
	optionBefore = lazyregexp.New(`(?:^|\s)(--?[A-Za-z][\w.-]*)[= ]["']?([^\s"']*)$`)
)

// ofCode matches files of code, which errors name as the place where they occurred.
var ofCode = lazyregexp.New(`\.(?:[cm]?js|ts|py|rb|sh|php|pl|go|java)$`)

// special matches words that are no coincidence as a part of a value: they have several parts.
var special = lazyregexp.New(`^\S*[A-Za-z]\S*[.:@/_-]\S*$|^\S*[.:@/_-]\S*[A-Za-z]\S*$|^\w*[a-z][A-Z]\w*$`)

// inArguments names the command and args of the container.
func (c *Container) inArguments() string { return "the command or args of container " + c.Name }

// origin names the place in the pod template from which the program has a word, "" if the template does not have it. isWhole reports
// whether the word is the whole value of a variable, an option or an argument.
func (c *Container) origin(word string) (place string, isWhole bool) {
	if !c.isValue(word) {
		return "", false
	}
	for i := range c.Variables {
		switch v, at := &c.Variables[i], "variable "+c.Variables[i].Name+" of container "+c.Name; {
		case v.Value == word && !credential.MatchString(v.Name):
			return at, true
		case place == "" && special.MatchString(word) && hasWord(v.Value, word):
			place = at
		}
	}
	for i := range c.Arguments {
		switch at, whole := inArgument(c, i, word); {
		case whole:
			return at, true
		case place == "" && special.MatchString(word):
			place = at
		}
	}
	if strings.HasPrefix(word, "/") {
		place = cmp.Or(place, mountOf(word, c.Mounts).place(*c))
	}
	return place, false
}

// isValue reports whether a word may be a value, and is no name of the container, its pod or program, or of a file of code.
func (c *Container) isValue(word string) bool {
	return word != "" && word != c.Name && !strings.Contains(strings.Join(c.commands(), " ")+" ", "-m "+word+" ") && !ownPod.MatchString(word) && !calls(c, word) && !ofCode.MatchString(word)
}

// inArgument names the option or the line of an argument that has a word, as origin does.
func inArgument(c *Container, i int, word string) (place string, isWhole bool) {
	argument := c.Arguments[i]
	before, after, found := strings.Cut(argument, word)
	command, rest := before[strings.LastIndexAny(before, "\n;&")+1:], strings.SplitN(after, "\n", 2)[0]
	isPrinted := printing.MatchString(command) && !strings.Contains(rest, "|") // By the script itself; another program may get it.
	if !found || endsInWord(before) || startsWithWord(after) || isPrinted {
		return "", false
	}
	place, option, part := c.inArguments(), "", before
	if strings.Contains(strings.TrimSpace(argument), "\n") {
		place = fmt.Sprintf("line %d of the script of container %s", 1+strings.Count(strings.TrimLeft(before, "\n"), "\n"), c.Name)
	}
	if m := optionBefore.FindStringSubmatch(before); m != nil {
		option, part = m[1], m[2]
	} else if before+after == "" && i > 0 && strings.HasPrefix(c.Arguments[i-1], "-") {
		option = c.Arguments[i-1]
	}
	if switches.MatchString(option) || fetching.MatchString(before) {
		option = ""
	}
	return wording.Join(" in ", option, place), part == "" && (after == "" || strings.ContainsAny(after[:1], " \n\"'"))
}

// hasArgument reports whether the command or an argument is this word, or has it as an option or in a script.
func (c *Container) hasArgument(word string) bool {
	return slices.ContainsFunc(c.Arguments, func(argument string) bool { return hasWord(argument, word) })
}

// calls reports whether the command of the container, or its script, runs a program of this name.
func calls(c *Container, program string) bool {
	return slices.ContainsFunc(c.commands(), func(command string) bool {
		name, _, _ := strings.Cut(command, " ")
		return path.Base(name) == path.Base(program)
	})
}

// sourceOf names where the program has the first of these words that the template has, or its arguments.
func (c *Container) sourceOf(words []string) string {
	for _, word := range words {
		if place, _ := c.origin(word); place != "" {
			return place
		}
	}
	return c.argumentsText()
}

// origin returns a word of the error that the pod template has, and where: the first that is a whole value, or has a part that is one, or
// else the first that is a part of one; "" if the template has none.
func (q *Clue) origin(c *Container) (word, place string, isWhole bool) {
	for _, m := range givenWords.FindAllStringSubmatch(q.Words, -1) {
		found := strings.Trim(strings.Join(m[1:], ""), ".,: ")
		at, whole := c.origin(found)
		if whole {
			return plainAddress(found), at, true
		}
		for _, part := range slices.Backward(strings.Split(found, ":")) { // The names in it, such as PROJECT:DATASET.
			if in, isName := c.origin(part); isName && special.MatchString(part) {
				return part, in, true
			}
		}
		if place == "" && at != "" {
			word, place = plainAddress(found), at
		}
	}
	return word, place, false
}

// given says where the program has a word from.
func given(place string) string {
	if strings.HasPrefix(place, "volume ") {
		return " is in " + place
	}
	return " comes from " + place
}

// asWord quotes a word of an error.
func asWord(word string) string { return wording.Quoted(wording.Shorten(word, maxDetail)) }

// originBeside returns where the program has a word of the error from, for advice that does not name that place; a common word among the
// arguments may be a coincidence.
func (q *Clue) originBeside(advice string, c *Container) string {
	word, place, _ := q.origin(c)
	head, _, _ := strings.Cut(place, " of container ")
	isCommon := place == c.inArguments() && !special.MatchString(word)
	if place == "" || isCommon || strings.Contains(advice, head) || strings.Contains(place, "command") && strings.Contains(advice, "command") {
		return ""
	}
	return asWord(word) + given(place)
}

// wrongWord is the clue of a value that the program cannot use, and that is the whole value of a variable, an option or an argument; of an
// address or a path, what it names may be at fault.
func wrongWord(q *Clue, c *Container) string {
	word, place, isWhole := q.origin(c)
	isElse := slices.ContainsFunc(c.peers(), func(p peer) bool { return p.host == word }) ||
		localTool.MatchString(programName.Group(q.Words)) // Another version of the tool may accept it.
	switch {
	case !isWhole || isElse || strings.HasPrefix(word, "/") || strings.Contains(word, "://"):
		return ""
	case unknownCommand.MatchString(q.Words):
		return fmt.Sprintf("correct %s in %s, or use an image whose version of the program has this command: that of container %s is %s", asWord(word), place, c.Name, c.Image)
	case unfit.MatchString(q.Words):
		return "correct " + asWord(word) + " in " + place
	}
	return ""
}

// unknownCommand matches what programs say about a command of theirs that they do not have.
var unknownCommand = lazyregexp.New(`(?i)\b(?:unknown|unrecognized|no such) (?:sub)?command\b|\bcommand \W?[\w:-]+\W? (?:is not defined|not found|does not exist)`)

// placeFor names the place in the pod template where advice of a program is followed, "" if that is unclear.
func placeFor(c *Container, advice string) string {
	hasShell := slices.ContainsFunc(c.Arguments, isShell)
	if name := constants.FindString(placeholder.ReplaceAllString(advice, "")); name != "" {
		if v := c.variable(name); v != nil {
			return c.placeOf(v)
		}
		return "env of container " + c.Name
	}
	switch {
	case hasShell && commandInHint.MatchString(advice):
		return "the script of container " + c.Name
	case installs.MatchString(advice):
		return "image " + c.Image
	case strings.Contains(advice, "--"), c.spokenOption(advice) != "":
		return c.inArguments()
	case ofTLS.MatchString(advice):
		return c.addresses()
	}
	return ""
}

var (
	// placeholder matches what a reader has to fill in.
	placeholder = lazyregexp.New(`<[^>]*>?|\[[^\]]*\]`)
	// ofTLS matches settings of a connection, installs what belongs into an image, and commandInHint a command to run.
	ofTLS         = lazyregexp.New(`\bssl_?mode\b`)
	installs      = lazyregexp.New(`(?i)\binstall\b`)
	commandInHint = lazyregexp.New("(?:[`']|\\brun: )([a-z][\\w.-]* [^`']+)")
)
