package words

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// quotation is a message of the cluster, or its meaning, at the end of a clause.
type quotation struct {
	message string
	// before and after surround it.
	before, after string
	// most is the maximum number of its characters. whole reports whether it is not shortened further to fit into a sentence.
	most  int
	whole bool
	// subject says more than the kind of the error before it, which is left out if there is no room.
	subject string
	// isOutput reports whether it is a line of a program.
	isOutput bool
	// lead is before it in a clause of its own.
	lead string
	// place follows it in brackets if there is room.
	place string
}

// at returns the quotation with what the program worked on.
func (q quotation) at(place string) quotation {
	q.place = place
	return q
}

// placed returns the end of a clause of at most so many characters with the place.
func (q quotation) placed(text string, most int) string {
	if with := text + wording.InBrackets(q.place); utf8.RuneCountInString(with) <= most {
		return with
	}
	return text
}

// plainly returns a message after a colon.
func plainly(message string) quotation {
	return quotation{message: shortDigests(message), before: ": ", most: maxUnquoted}
}

// digest matches a hash after its beginning, which suffices to recognize it.
var digest = lazyregexp.New(`\b((?:sha\d+:)?[0-9a-f]{12})[0-9a-f]{20,}\b`)

func shortDigests(message string) string { return digest.ReplaceAllString(message, "$1…") }

// output returns a line of a program after a colon.
func output(line string) quotation {
	return quotation{message: shortDigests(line), before: ": ", most: maxUnquoted, isOutput: true}
}

// logLine returns a line of a log, with what it is if it is no error, after a comma or, as a program's output, after a colon.
func logLine(line string, sign meaning.LineSign, isOutput bool) quotation {
	switch {
	case sign == meaning.SignEmpty:
		return quotation{message: "its log is empty", before: ", and ", whole: true}
	case line == "" || sign == meaning.SignError && isOutput:
		return output(line)
	case sign == meaning.SignNoError:
		return quotation{message: "its log ends without an error", before: ", but ", whole: true}
	case sign == meaning.SignUnknown || sign == meaning.SignInside:
		lead := "its log ends with "
		if sign == meaning.SignInside {
			lead = "its log has "
		}
		q := inQuotes("; "+lead, line)
		q.lead = lead
		return q
	}
	return inQuotes(", ", line)
}

// inQuotes returns a message in quotes.
func inQuotes(before, message string) quotation {
	return quotation{message: shortDigests(message), before: before + "“", after: "”", most: maxQuoted}
}

// meant returns the meaning of an error, or else the message in quotes.
func meant(e *meaning.KnownError, message string) quotation {
	if e != nil {
		return quotation{message: e.Text(), before: ": ", whole: true, subject: e.Subject}
	}
	return inQuotes(", ", meaning.LastLine(strings.Split(message, "\n")))
}

// meansExit returns the meaning of an exit code, which stands for a message.
func meansExit(text string) quotation { return quotation{message: text, before: ": ", whole: true} }

// meaning returns the meaning that stands for a message, "" if the message itself is quoted.
func (q quotation) meaning() string {
	if !q.whole {
		return ""
	}
	return q.before + q.message
}

// programName matches the name of a program before its message, where it keeps its case in quotes.
var programName = lazyregexp.New(`^[a-z][\w.-]*: `)

// leastQuoted is the minimum number of characters of a message that say something.
const leastQuoted = 40

// clauses returns the clause text with the quotation, in at most so many characters. The message is shortened if enough of it is
// left, and is a clause of its own otherwise, or if only that has its end and may begin a sentence.
func (q quotation) clauses(text string, room int) []string {
	message := q.message
	if !q.whole {
		message = wording.Shorten(message, q.most)
	}
	if message == "" {
		return []string{text}
	}
	left := room - utf8.RuneCountInString(text+q.before+q.after)
	if last := wording.LastClauses(message, left); q.subject != "" && strings.Contains(last, q.subject) {
		message = last
	}
	if utf8.RuneCountInString(message) <= left {
		return []string{q.placed(text+q.before+message+q.after, room)}
	}
	if !q.whole && left >= leastQuoted {
		short, own := wording.Shorten(q.message, left), wording.Shorten(q.message, maxQuoted)
		initial, _ := utf8.DecodeRuneInString(wording.Sentence(own))
		begins := q.after == "”" || unicode.IsUpper(initial) // The name of a field keeps its case.
		if strings.HasSuffix(own, "…") || !begins || !strings.HasSuffix(short, "…") {
			return []string{text + q.before + short + q.after}
		}
		message = own
	}
	if q.after == "”" || q.isOutput && programName.MatchString(message) {
		message = q.lead + wording.Quoted(message)
	}
	return []string{text, message}
}

// shortens reports whether the text about the problem has only a part of the message that it quotes.
func shortens(text string, p *explain.Problem, now time.Time) bool {
	quote := problems[p.Kind].quote
	if quote == nil {
		return false
	}
	q := quote(p, now)
	if p.Refusal != nil && p.Refusal.IsOfTemplate() && !strings.Contains(text, p.Refusal.Message) {
		return true
	}
	return !q.whole && !strings.Contains(text, wording.Shorten(q.message, len(q.message)))
}

// room is the length of a sentence that begins with these words, without them and without the full stop, in characters.
func room(beginning string) int { return maxSentence - utf8.RuneCountInString(beginning) - len(".") }

// joined joins clauses to sentences, without a full stop at the end. A clause that makes a sentence too long begins the next one.
func joined(clauses []string) string {
	var text, last string
	for _, clause := range clauses {
		switch {
		case clause == "":
		case last == "":
			text, last = clause, clause
		case utf8.RuneCountInString(last+"; "+clause+".") <= maxSentence:
			text, last = text+"; "+clause, last+"; "+clause
		default:
			text, last = FullStop(text)+" "+wording.Sentence(clause), clause
		}
	}
	return text
}

// sentencesOf joins clauses to sentences.
func sentencesOf(clauses []string) string { return FullStop(wording.Sentence(joined(clauses))) }
