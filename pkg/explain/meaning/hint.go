package meaning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

var (
	// hint matches where a clause begins in which a program says what to do. An order looks like a report of what it does, unless it names
	// something exact: an option, a variable, or what is in quotes of code.
	hint = lazyregexp.New(`(?:^|[:,(] ?| - )(?i:(?:please|alternatively|you (?:can|may|might|must|need to|should|have to)|to \w+(?: \w+){0,6}, (?:call|run|use|set)|to (?:fix|resolve|solve|avoid|enable|disable|ignore|override|use|update)|` +
		`either|try|consider|make sure|ensure|did you (?:mean|forget|want)|if you (?:choose|want|wish|need|intend|trust)|if (?:[\w'-]+ ){1,8}you (?:must|need to|should|have to)|increase|decrease|reduce|lower|provide|supply|specify|grant)\b)|^(?i:hint|suggestion|tip|solution|remedy|resolution): `)
	order = lazyregexp.New(`(?:^|[:,(] ?| - )(?i:(?:then |or )?(?:use|set|(?:re-?)?run|pass|add|call|enable|execute|unblock)\b)`)
	exact = lazyregexp.New("(?:^|[\\s'`\"(=])(?:--[a-z]|-[A-Z])[\\w-]+|\\b[A-Z]{2,}_[A-Z0-9_]+\\b|\\b[A-Z]{4,} env|`[^`]*[ =][^`]*`|'[\\w./-]+ [^']+'|\"[\\w./-]+ [^\"]+\"|\\b(?:run|use|call|execute)(?:: | \\$ )|\\b[a-z]+(?:_[a-z]+){2,}\\b|\\b[A-Z]{3,}(?: [A-Z]+)* (?:privilege|permission)s?\\b")
	// definite matches the verbs of what a reader can do at once, besides what is exact.
	definite = lazyregexp.New(`(?i:\b(?:set|defin(?:e|ing)|specify|provide|supply|install|enable|disable|mount|grant|upgrade|create|increas\w+|decreas\w+|reduc\w+|lower\w*|raise|remove|delete|rename)\b)`)
	// reports matches what looks like an order, and reports what failed.
	reports = lazyregexp.New(`^\w+: .*\bfailed\b|["'` + "`" + `] ?(?:\w+ )?(?:failed|returned|exited|exit (?:status|code))\b`)
	// labeled matches the label of advice, which needs no verb that changes something.
	labeled = lazyregexp.New(`^(?i:hint|suggestion|solution|remedy|resolution): `)
	// idle matches advice on reading or reporting, and deprecated what is no error yet.
	idle = lazyregexp.New(`(?i)--?help\b|\bsudo\b|\bCASCADE\b|\bmore (?:info|detail|log)|\bfor details|\breport\b|\bbug\b|\bissues?\b|documentation|\bdocs\b|https?://|(?:stack|back) ?trace|traceback|debug|verbose|contact|support|complete log|--upgrade pip|\bnotice\b|again later|` +
		`(?:^|: )(?:has|is|are|was|did an|does)\b.*\?|insights|\bto see\b|\bfor a list\b|\brepo update\b|init project|disable locking|turn validation off|skip checks|\blogin\b|did you mean\?  |^(?:run|call|execute) \x60[^\x60]+\x60: |\bto retry\b|\bcheck (?:your|the) (?:PATH|log)|^(?:GRANT|REVOKE|ALTER|CREATE|DROP) .*;$`)
	deprecated = lazyregexp.New(`(?i)deprecat|FutureWarning|will be removed`)
	// reading matches the end of a line on what to read, and nameAtEnd the name of an error there.
	reading   = lazyregexp.New(`(?i)\bfor (?:more|further|full|detailed) (?:info|detail|help).*$|,? (?:or )?(?:see|refer to|visit)\b.*https?://\S+$`)
	nameAtEnd = lazyregexp.New(` ?:? \(\w+(?:Error|Exception)\)$`)
	// goesOn matches the end of a line before a command, and sentenceEnd separates the sentences of a line.
	goesOn      = lazyregexp.New(`(?::|this\?|, run)$`)
	sentenceEnd = lazyregexp.New(`[.;!] +|, (?:or|and) (?:try|set|use) `)
)

// The number of lines at the end of a log that are searched for the program's advice, and the maximum length of a quoted sentence.
const (
	maxAdviceLines = 12
	maxAdvice      = 120
)

// firstText returns the first line that has more than a frame.
func firstText(lines []string) string {
	for _, line := range lines {
		if text := strings.TrimPrefix(strings.Trim(line, " \t│|"), "npm ERR! "); text != "" {
			return text
		}
	}
	return ""
}

// sentencesIn returns the sentences of a line, without its end on what to read.
func sentencesIn(text string) (all []string) {
	from := 0
	text = reading.ReplaceAllString(text, "")
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		all = append(all, text[from:at[0]])
		from = at[1]
	}
	return append(all, text[from:])
}

// hintsIn returns the clauses of a sentence that say what to do.
func hintsIn(sentence string) (all []string) {
	for _, pattern := range []*lazyregexp.Regexp{hint, order} {
		for _, at := range pattern.FindAllStringIndex(sentence, -1) {
			clause := sentence[at[0]:]
			if inside, _, closes := strings.Cut(clause, ")"); closes && strings.HasPrefix(clause, "(") {
				clause = inside
			}
			clause = strings.Trim(clause, " -,:(*")
			isReport := pattern == order && (reports.MatchString(clause) || strings.HasSuffix(sentence[:at[0]], "INFO"))
			if !isReport && !idle.MatchString(clause) && (exact.MatchString(clause) || pattern == hint && definite.MatchString(clause)) {
				all = append(all, clause)
			}
		}
	}
	return all
}

// hintOf returns the clause of a line that says what to do: the first that is exact, or else the first, but rather one that need not be cut;
// or "". A sentence that continues in the next line has none.
func hintOf(text string) string {
	var all []string
	for _, sentence := range sentencesIn(text) {
		if sentence = strings.TrimLeft(strings.Trim(sentence, " -*•|│."), ">"); !unfinished.MatchString(sentence) {
			all = append(all, hintsIn(sentence)...)
		}
	}
	isShort := func(clause *string) bool { return len(*clause) <= maxAdvice }
	best := lists.First(all, func(clause *string) bool { return isShort(clause) && exact.MatchString(*clause) })
	if best == nil {
		best = lists.First(all, isShort)
	}
	return *cmp.Or(best, lists.First(all, func(*string) bool { return true }), new(string))
}

// split returns the messages at the end of the log from the error on, and the nearest before it. A message that continues is joined with its next line.
func (q *Clue) split() (before, from []string) {
	tail := q.Log[max(0, len(q.Log)-maxAdviceLines):]
	texts := make([]string, len(tail))
	for i, line := range tail {
		text := strings.TrimSpace(readLine(line).text)
		text = strings.TrimLeft(text[len(level.FindString(text)):], " :]\t")
		if goesOn.MatchString(text) || unfinished.MatchString(text) {
			text += " " + firstText(tail[i+1:])
		}
		texts[i] = text
	}
	at := max(0, telling(tail))
	return texts[max(0, at-maxHeadLines):at], texts[at:]
}

// around returns the error, the messages after it, and the nearest ones before it, the last first.
func (q *Clue) around() []string {
	before, from := q.split()
	slices.Reverse(before)
	return slices.Concat([]string{q.Words}, from, before)
}

// programAdvice is what a program itself advises: the clause that says what to do, and the place in the pod template where that is done.
// isExact reports whether the clause names an option, a variable or a command.
type programAdvice struct {
	clause, place string
	isExact       bool
}

// text quotes the advice, with its place unless the text before it has that.
func (o *programAdvice) text(before string) string {
	if o.clause == "" {
		return ""
	}
	place := o.place
	if strings.Contains(before, place) {
		place = ""
	}
	return wording.Join(", in ", wording.Quoted(wording.Shorten(o.clause, maxAdvice)), place)
}

// beside returns the advice after a text, if it says more than that.
func (o *programAdvice) beside(text string) string {
	if option := options.Group(o.clause); option != "" && strings.Contains(text, option) {
		return text
	}
	return wording.Join("; its log advises: ", text, o.text(text))
}

// ownAdvice returns what the program itself advises: the first clause that says what to do, or else its last hint.
func (q *Clue) ownAdvice(c *Container) (last programAdvice) {
	for _, text := range q.around() {
		switch clause := hintOf(text); {
		case deprecated.MatchString(text):
		case clause != "":
			return adviceOf(c, clause)
		case labeled.MatchString(text) && !idle.MatchString(text) && !unfinished.MatchString(text):
			last = adviceOf(c, text)
		}
	}
	return last
}

// adviceOf returns the advice of a program with its place.
func adviceOf(c *Container, clause string) programAdvice {
	clause = strings.Trim(nameAtEnd.ReplaceAllString(clause[len(labeled.FindString(clause)):], ""), ` "`)
	return programAdvice{strings.TrimPrefix(clause, "then "), placeFor(c, clause), exact.MatchString(clause)}
}

// unadvised are the errors about which programs advise what does not help.
var unadvised = []ErrorKind{ErrorVariable, ErrorSetting, ErrorEarlierState}

// adviceOn returns what the program itself advises in the line of a known error, or after it.
func (q *Clue) adviceOn(e *KnownError, c *Container) (none programAdvice) {
	const anyCode = 1
	at := LineOfError(anyCode, q.Log)
	if at < 0 || slices.Contains(unadvised, e.Kind) || strings.HasPrefix(e.Subject, "chart ") {
		return none
	}
	if advice := (&Clue{Words: q.Log[at], Log: q.Log[at+1:]}).ownAdvice(c); advice.isExact {
		return advice
	}
	return none
}
