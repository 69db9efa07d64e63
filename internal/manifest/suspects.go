package manifest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// suspect is a mistake that a line may contain, judging by its text alone.
type suspect struct {
	// pattern matches such a line. Its first group ends where the mistake is.
	pattern *regexp.Regexp
	// In problem and fix, $2 is the second group, and $q is the second group as a value in quotes.
	problem, fix string
	// holds is a further condition, nil for none.
	holds func(line string) bool
}

const (
	dashes     = `\s*(?:- +)*`
	fieldName  = `[A-Za-z_][\w./-]*`
	fieldStart = `(?:[\w./-]+: +)`
)

// suspects are mistakes of one place in a line, in the order in which they are tried.
var suspects = []suspect{
	{regexp.MustCompile(`^( *)\t`), "this line is indented with a tab, but YAML allows only spaces", "replace the tab by spaces", nil},
	{regexp.MustCompile(`^(` + dashes + `(` + fieldName + `))\s*(?: #.*)?$`), `there is no colon after "$2"`, "write $2:", nil},
	{regexp.MustCompile(`^(` + dashes + `(` + fieldName + `):)([^\s:/].*)$`), "there is no space after the colon", "write $2: $3", nil},
	{regexp.MustCompile(`^(` + dashes + `(` + fieldName + `)) +([^\s:#].*)$`), `there is no colon after "$2"`, "write $2: $3", nil},
	{regexp.MustCompile(`^(\s*-)([^\s-].*)$`), "there is no space after the dash of a list item", "write - $2", nil},
	{regexp.MustCompile("^(" + dashes + fieldStart + "?)(([@`%&*!,\\]}?]).*)$"), "a value that starts with $3 must be in quotes", "write $q", nil},
	{regexp.MustCompile(`^(` + dashes + fieldStart + `)([^\s"'\[{|>#].*: .*)$`), "a value that contains a colon and a space must be in quotes", "write $q", nil},
	{regexp.MustCompile(`^(\s*(?:- +)+)([\w./-]+ .*: .*)$`), "a value that contains a colon and a space must be in quotes", "write $q", nil},
}

// unpaired are quotes and brackets without the other one.
var unpaired = []suspect{
	{regexp.MustCompile(`^(` + dashes + fieldStart + `?)"[^"]*$`), `the quote (") is not closed`, `add " at the end`, nil},
	{regexp.MustCompile(`^(` + dashes + fieldStart + `?)'[^']*$`), `the quote (') is not closed`, `add ' at the end`, nil},
	{regexp.MustCompile(`^(` + dashes + fieldStart + `?)".*".*"$`), `a quote (") inside the text ends it`, `write \" for each quote inside, or use single quotes`, nil},
	{regexp.MustCompile(`^(` + dashes + fieldStart + `?)'.*'.*'$`), `a quote (') inside the text ends it`, `write '' for each quote inside, or use double quotes`, nil},
	{regexp.MustCompile(`^(.*)"`), `a quote (") is not closed`, `add the other ", or remove this one`, odd(`"`)},
	{regexp.MustCompile(`^(.*?\w)'\w`), `a quote (') inside the text ends it`, `write '' for it`, odd(`'`)},
	{regexp.MustCompile(`^(.*)'`), `a quote (') is not closed`, `add the other ', or remove this one`, odd(`'`)},
	{regexp.MustCompile(`^(.*)\[`), `"[" is not closed`, "add ]", more("[", "]")},
	{regexp.MustCompile(`^(.*)\{`), `"{" is not closed`, "add }", more("{", "}")},
	{regexp.MustCompile(`^(.*)\]`), `"]" was not opened`, "remove it, or add [", more("]", "[")},
	{regexp.MustCompile(`^(.*)\}`), `"}" was not opened`, "remove it, or add {", more("}", "{")},
}

func odd(quote string) func(string) bool {
	return func(line string) bool { return strings.Count(line, quote)%2 == 1 }
}

func more(one, other string) func(string) bool {
	return func(line string) bool { return strings.Count(line, one) > strings.Count(line, other) }
}

// in returns the mistake if the line contains it, otherwise nil.
func (s *suspect) in(line string) *mistake {
	line = strings.TrimRight(line, " \r")
	groups := s.pattern.FindStringSubmatch(line)
	if groups == nil || s.holds != nil && !s.holds(line) {
		return nil
	}
	var replacements []string
	for i := 2; i < len(groups); i++ {
		replacements = append(replacements, "$"+strconv.Itoa(i), wording.Cut(groups[i], 40))
	}
	if len(groups) > 2 {
		replacements = append(replacements, "$q", wording.Cut("'"+strings.ReplaceAll(groups[2], "'", "''")+"'", 40))
	}
	words := strings.NewReplacer(replacements...)
	return &mistake{column: len(groups[1]) + 1, problem: words.Replace(s.problem), fix: words.Replace(s.fix)}
}

var (
	lineStart  = regexp.MustCompile(`^` + dashes + `(?:-(?:[^\s-]|$))?`)
	opensBlock = regexp.MustCompile(`(?:^` + dashes + fieldName + `|:)\s*(?: #.*)?$`)
	opensText  = regexp.MustCompile(`[|>][-+0-9]*(?: +#.*)?$`)
)

// stub returns a line without mistakes that takes the place of another one: it has the same indentation and dashes, and opens a
// block or a text if that one does.
func stub(line string) string {
	line = strings.TrimRight(line, " \r")
	start := lineStart.FindString(line)
	if at := strings.LastIndexByte(start, '-'); at >= 0 && !strings.HasSuffix(start, " ") { // there is no space after it
		start = start[:at] + "- "
	}
	switch {
	case opensBlock.MatchString(line):
		return start + "x:"
	case opensText.MatchString(line) && strings.IndexByte(line, ':') < 0: // of an item
		return start + "|"
	case opensText.MatchString(line):
		return start + "x: |"
	}
	return start + "x: 1"
}
