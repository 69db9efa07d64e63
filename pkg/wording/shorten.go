package wording

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// Shorten returns the first line of a message without a full stop, in at most the given number of characters. If it has more,
// it keeps the part that says why: the sentences at its beginning, or the end of an error that wraps others, and of its
// beginning as much as there is room for. It cuts between words.
func Shorten(message string, most int) string {
	most = max(most, 0)
	text, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(message, "\uFFFD")), "\n")
	if text = strings.TrimRight(text, " .\r"); fits(text, most) {
		return text
	}
	text = withoutAdvice(cmp.Or(withoutNoise(text), text))
	if flat := flattened(text); flat != text && !fits(LastClauses(text, most), most) {
		return clauses(flat, most)
	}
	for _, short := range []string{text, shortQuota(text)} {
		if short != "" && fits(short, most) {
			return short
		}
	}
	if first := sentences(text, most); first != "" {
		return general(first, strings.TrimLeft(text[len(first):], ".; "), most)
	}
	if m := rejected.FindStringSubmatch(text); m != nil {
		return Cut(m[1]+" is invalid: "+invalid.ReplaceAllString(m[2], "$3: "), most)
	}
	if end := sentence.FindStringIndex(text); end != nil && !opened.MatchString(text[:end[1]]) {
		first, rest := text[:end[1]-len(". ")], text[end[1]:]
		if text = first; (outcome.MatchString(first) || why.MatchString(rest)) && !hint.MatchString(rest) {
			return ending(first, Shorten(strings.TrimPrefix(rest, why.FindString(rest)), most), most)
		}
	}
	return clauses(text, most)
}

// general returns the first sentences of a message, or what follows them if they are general, or say what failed and not why.
func general(first, rest string, most int) string {
	count, failed := len(strings.Fields(first)), outcome.MatchString(first)
	switch isGeneral := !specific.MatchString(first); {
	case rest == "", hint.MatchString(rest):
	case isGeneral && (named.MatchString(rest) || count == 1 || count == 2 && failed):
		return Shorten(rest, most)
	case failed, why.MatchString(rest):
		return ending(first, Shorten(strings.TrimPrefix(rest, why.FindString(rest)), most), most)
	case unable.MatchString(first):
		if both := ending(first, Shorten(rest, most), most); strings.Contains(both, "… ") {
			return both
		}
	}
	return first
}

// reductions shorten the names in a message. sacrifices leave out what is left out only if nothing else makes room: remarks in
// brackets at the end, and the folders of files.
var (
	reductions = []func(string) string{shortNames, shortDomains}
	sacrifices = []func(string) string{func(text string) string { return remark.ReplaceAllString(text, "") }, shortPaths}
)

func withoutAdvice(text string) string { return strings.TrimSuffix(text, advice.FindString(text)) }

// clauses returns the last clauses of a message that fit, with the first one if that says what failed.
func clauses(text string, most int) string {
	end := ends(text, most)
	if first := doing.Group(text); first != "" && !strings.Contains(end, first) {
		_, rest, _ := strings.Cut(text, first+": ")
		return cmp.Or(withFirst(first, rest, most), end)
	}
	return end
}

// withFirst returns the first clause of a message with the last ones, "" if there is no room for two of these, or if others say more.
func withFirst(first, rest string, most int) string {
	most -= utf8.RuneCountInString(first + "… ")
	for _, reduce := range []func(string) string{shortNames, shortDomains, hostsOnly} {
		rest = reduce(rest)
		end := LastClauses(rest, most)
		if strings.Contains(end, ": ") && fits(end, most) && !specific.MatchString(strings.TrimSuffix(rest, end)) {
			return first + "… " + end
		}
	}
	return ""
}

// ends returns the last clauses of a message that fit, and of its beginning as much as there is room for. It shortens names if that
// keeps more clauses.
func ends(text string, most int) string {
	best, count := "", 0
	for _, reduce := range reductions {
		if text = reduce(text); fits(text, most) {
			return text
		}
		start, end := cutAt(text, LastClauses(text, most))
		if n := strings.Count(end, ": ") + 1; fits(end, most) && n > count {
			best, count = ending(start, end, most), n
		}
	}
	if bare := scheme.ReplaceAllString(text, ""); fits(bare, most) && !request.MatchString(text) {
		return bare
	}
	for _, reduce := range sacrifices {
		if best != "" {
			return best
		}
		text = reduce(text)
		if start, end := cutAt(text, LastClauses(text, most)); fits(end, most) {
			best = ending(start, end, most)
		}
	}
	return cmp.Or(best, lastClause(text, most))
}

// lastClause returns the last clause of a message, or the beginning of a message with a short one before a long one.
func lastClause(text string, most int) string {
	end := lastClauses(text, most, func(string) bool { return false })
	start, end := cutAt(invalid.ReplaceAllString(text, "$2"), invalid.ReplaceAllString(end, "$2"))
	if !fits(end, most) && fits(start, most/2) {
		return Cut(text, most)
	}
	return ending(start, end, most)
}

// cutAt returns a message without its end, and the end, without the end of a list.
func cutAt(text, end string) (before, after string) {
	if strings.Count(end, "]") > strings.Count(end, "[") {
		text, end = strings.TrimSuffix(text, "]"), strings.TrimSuffix(end, "]")
	}
	return strings.TrimSuffix(text, end), end
}

// ending returns the end of a text, with as much of what is before it as there is room for.
func ending(start, end string, most int) string {
	const least = 15 // characters of a beginning that say something
	head := words(start, most-utf8.RuneCountInString("… "+end))
	if head = strings.TrimSuffix(head, dangling.FindString(head)); !fits(head, least-1) {
		return head + "… " + end
	}
	return Cut(end, most)
}

func fits(text string, most int) bool { return utf8.RuneCountInString(text) <= most }

var (
	// dump matches a value of Go, or an object of JSON, without others in it. dumped matches it as the value of a field.
	dump = lazyregexp.New(`(?:\[\]|\bmap\[|[*&]|\b[a-z]\w*\.\w)[\w\[\]*.]*\{[^{}]*\}|\{"[^{}]*\}`)
	// wrapped matches the name of an error in another one, as SQLAlchemy writes it, and what kubectl and Helm write about an object before
	// its error.
	wrapped = lazyregexp.New(`<[\w.]+ object at 0x[0-9a-f]+>: |\((?:\w+\.)+\w*(?:Error|Exception)\) |unable to build kubernetes objects from (?:\w+ )+manifest: |unable to recognize "[^"]*": |\[?\bresource mapping not found for name: "[^"]*" namespace: "[^"]*" from "[^"]*": `)
	dumped  = lazyregexp.New(`(?:Invalid value: )?…(?:: |$)`)
	// invalid matches a field with a value that is not allowed; a long path to it is a group of its own, and so is its name.
	invalid = lazyregexp.New(`((?:[\w\[\]-]*\.){2,})?(([\w.\[\]-]+): Invalid value: (?:"[^"]*"|[^\s:]+): )`)
	// rejected matches kubectl's message about an object that the API server does not accept.
	rejected = lazyregexp.New(`^(?:[Ee]rror: )?The \w+ "([^"]+)" is invalid: (.*)`)
	// sentence matches the end of a sentence, or of an element of a list, but not "e.g. ".
	sentence = lazyregexp.New(`[^.][^.][.;] `)
	// opened matches a text with a quotation that does not end.
	opened = lazyregexp.New(`(?:^|[\s(:])'[^']*$`)
	// specific matches a name or a number, and named a name in quotes or a value, without which a sentence is general. hint matches
	// the beginning of advice.
	specific = lazyregexp.New(`["\d/=']`)
	named    = lazyregexp.New(`"[^"]+"|\w=\d`)
	hint     = lazyregexp.New(`^(?i:(?:hint|did|try|use|see|(?:re-?)?run|please|retry|check|will|this|if|for|to|you|make|consider|verify|is|are|\w+ing)\b)`)
	// why matches the beginning of a sentence with the cause of the one before it.
	why = lazyregexp.New(`^(?i:error(?: from \w+)?|reason|cause): `)
	// between matches a sentence with advice that has another one after it.
	between = lazyregexp.New(`(\. )(?:(?:Re-?run|Retry|Run|See|Try|Check) (?:the|your|that|whether|with|again|if)|Please) [^.:]*\. `)
	// occurred matches a clause at the beginning that says nothing.
	occurred = lazyregexp.New(`^(?i:an error (?:has )?occurred)[^:]*: `)
	// advice matches a clause at the end of a message about what a reader may do.
	advice = lazyregexp.New(`(?i:[;,.!] \(?(?:if (?:you|this|that|the)|please|try|see|use|check|consult|refer|make sure|ensure|verify|consider|alternatively|you (?:can|may|might|should)|for (?:more|further|details)|run|to (?:fix|resolve|avoid|see|learn))|[;:,.!] (?:did you|have you|are you sure|is (?:there|the))) (?:[^:]|:/)*$`)
	// remark matches a text in brackets at the end of a message, and dangling words that need another one after them.
	remark   = lazyregexp.New(` \([^()]*\)$`)
	dangling = lazyregexp.New(`(?:[\s,:]+(?i:an?|the|to|of|from|for|in|on|at|by|with|and|or|as|that|is|are|was|not|its|this))+$`)
	// outcome matches a sentence that says what failed, and not why.
	outcome = lazyregexp.New(`(?i)\bfailed(?: to \w[^:]*(?:: \w+)?)?$|\b(?:error|exception)s? (?:(?:has )?occurred|encountered)\b[^:]*$|^unhandled (?:error|exception)$|\baccess denied$|\bcould not (?:complete|finish) \w+$`)
	// unable matches a sentence about what could not be done, which the next one may explain.
	unable = lazyregexp.New(`(?i)\b(?:unable to|cannot|could not|couldn't|can't) [^:"'\d]*$`)
	// doing matches a clause at the beginning that says what failed, without its level.
	doing = lazyregexp.New(`^(?:(?:[A-Z]{4,}|[Ee]rror|fatal)[: ]+)?((?i:(?:failed|unable) to|could not|cannot|error \w+ing) [a-z][^:"]{12,}): `)
	// quota matches a list of several resources in the message of an exhausted quota.
	quota = lazyregexp.New(`\b(requested|used|limited): ([^\s,]+),[^\s,]\S*[^\s,]`)
)

// wrapping matches the prefixes that the kubelet and the runtime put before an error: the failed call, its volume or plugin.
var wrapping = lazyregexp.New(`^.* desc = |^\S+ failed for volume "[^"]+" : |^.*plugin type="[^"]+"(?: name="[^"]+")? failed \(\w+\): |^.* Output: |` +
	`^Code: \d+\. DB::\w*Exception: (?:Received from \S+ (?:DB::Exception: )?)?|^code: \d+, message: |` + // a server that asked another one
	`^failed to (?:create (?:containerd task|containerd container|shim task)|generate (?:container "[^"]*" )?spec): |` +
	`^.* Code: \d+\. Errors: +\* |^.* objectVersion:\S*: |` + // Vault and Azure Key Vault
	`^(?:Pod was rejected|prepare dynamic resources): |^(?:Allocate|Update plugin resources) failed due to |^Failed to prepare dynamic resources: |` +
	`^(?:[\w :-]+ )?time="[^"]*" level=\w+ msg="|^(?:[Ff]ailed to create pod sandbox|OCI runtime create failed|runc create failed|container create failed|unable to start container process|error during container init): `)

// escaped matches a quote in a quoted text, and escapedEnd the end of a line in it. inContainer matches the folder of a container on
// its node, before a path in the container.
var (
	escaped     = lazyregexp.New(`\\+"`)
	escapedEnd  = lazyregexp.New(`(?:\\+r)?\\+n`)
	inContainer = lazyregexp.New(`/[^\s":]*/[0-9a-f]{64}(/[^\s":]*)`)
)

// trailing matches what follows an error: its code, its pod, the ids of its request, and the programs' references to their manuals.
var trailing = lazyregexp.New(`(?:(?:: exit (?:status|code) \d+)?: unknown|, code: unknown|: exit (?:status|code) \d+|, which is unexpected| \(pod: "[^"]*", container: [^)]*\)|"? for pod:? [\w.-]+/[\w.-]+|(?:[ ,;.(\[]+(?i:(?:request|trace|correlation|activity|client-request|host)[ _-]?id|timestamp)\b[ "'\\]*[:=][ "'\\]*[^ ,;]+(?: [\d:.]+Z?)?)+|,? (?:see https?://\S+$|(?:Please r|R)efer to|See https?:).*)$`)

// Unwrapped returns a message on one line, without the calls that failed before its error, and what follows it.
func Unwrapped(message string) string {
	message = escaped.ReplaceAllString(escapedEnd.ReplaceAllString(message, " "), `"`)
	message = inContainer.ReplaceAllString(strings.TrimRight(strings.Join(strings.Fields(message), " "), " ."), "…$1")
	for before := wrapping.FindString(message); before != "" && before != message; before = wrapping.FindString(message) {
		message = message[len(before):]
	}
	return cmp.Or(strings.TrimSuffix(message, trailing.FindString(message)), message)
}

// minInner is the minimum number of words of an error in brackets; fewer are a remark.
const minInner = 4

// flattened puts a colon in place of the brackets around an error that another one wraps, at its end.
func flattened(text string) string {
	for strings.HasSuffix(text, ")") {
		open, depth := len(text)-1, 1
		for depth > 0 && open > 0 {
			open--
			switch text[open] {
			case ')':
				depth++
			case '(':
				depth--
			}
		}
		if depth > 0 {
			break
		}
		outer, inner := text[:open], text[open+1:len(text)-1]
		if at := strings.LastIndexByte(outer, ' '); strings.HasSuffix(outer, "=") { // the name of a field
			outer = outer[:max(at, 0)]
		}
		isCall := open > 0 && text[open-1] != ' ' && text[open-1] != '='
		if isCall || !strings.Contains(inner, ": ") || !strings.ContainsAny(outer, ":.") || len(strings.Fields(inner)) < minInner {
			break
		}
		text = strings.TrimRight(outer, " :") + ": " + inner
	}
	return text
}

// withoutNoise removes what says nothing about an error: the code of a call, the fields of a value, and the errors of a list
// that repeat another one.
func withoutNoise(text string) string {
	text = between.ReplaceAllString(wrapped.ReplaceAllString(Unwrapped(text), ""), "$1")
	text = occurred.ReplaceAllString(strings.ReplaceAll(text, "; nested exception is ", ": "), "")
	text = strings.Join(slices.Compact(strings.Split(text, ": ")), ": ") // Clauses that are there twice.
	for before := ""; before != text; {
		before, text = text, dump.ReplaceAllString(text, "…")
	}
	text = strings.TrimRight(dumped.ReplaceAllString(text, ""), ": ")
	start, list, found := strings.Cut(text, ": [")
	list, closed := strings.CutSuffix(list, "]")
	if !found || !closed {
		return text
	}
	var kept []string
	seen := map[string]bool{}
	for _, element := range strings.Split(list, ", ") {
		at := strings.LastIndex(element, ": ")
		if at < 0 || !seen[element[at:]] {
			kept = append(kept, element)
		}
		seen[element[max(at, 0):]] = true
	}
	return start + ": [" + strings.Join(kept, ", ") + "]"
}

// shortQuota shortens the message of an exhausted quota to the first of its resources; "" for other messages.
func shortQuota(text string) string {
	if len(quota.FindAllStringIndex(text, -1)) != 3 {
		return ""
	}
	return quota.ReplaceAllString(text, "$1: $2…")
}

// sentences returns the sentences at the beginning of a text that fit, "" if the first does not.
func sentences(text string, most int) string {
	last := 0
	for _, at := range sentence.FindAllStringIndex(text, -1) {
		if end := at[1] - len(". "); fits(text[:end], most) && !opened.MatchString(text[:end]) {
			last = end
		}
	}
	return text[:last]
}

// LastClauses returns the end of an error that wraps others, its most specific part: the clauses after a colon that fit into the
// given number of characters, but at least one. A field stays with its value that is not allowed, or with its limit (">= 2"), and a file or
// an address with what is the matter with it.
func LastClauses(message string, most int) string {
	return lastClauses(message, most, isHalf.MatchString)
}

// lastClauses returns the clauses at the end of a message; a half one does not end without the one before it.
func lastClauses(message string, most int, half func(string) bool) string {
	last, quoted, depth := "", false, 0
	quotes, fields := strings.Count(message, `"`)%2 == 0, invalid.FindAllStringIndex(message, -1)
	for i := len(message) - 1; i >= 0; i-- {
		switch message[i] {
		case '"':
			quoted = quotes && !quoted
		case ')', '}':
			depth++
		case '(', '{':
			depth--
		case ':':
			if quoted || depth > 0 || !endsClause(message, i) {
				continue
			}
			clauses := message[clauseAt(i, fields):]
			if last == "" && half(clauses) {
				continue
			}
			if last != "" && !fits(clauses, most) {
				return last
			}
			last = clauses
		}
	}
	if last == "" || fits(message, most) {
		return message
	}
	return last
}

// endsClause reports whether a colon ends a clause: no list that ends the message follows, and no limit.
func endsClause(message string, colon int) bool {
	rest := message[colon:]
	isList := strings.HasPrefix(rest, ": [") && strings.HasSuffix(message, "]")
	return strings.HasPrefix(rest, ": ") && !isList && !strings.ContainsAny(rest[:min(len(": >"), len(rest))], "<>=")
}

// isHalf matches the half of a clause: what the system says about a file or a server, the verb of a sentence, or only a name.
var isHalf = lazyregexp.New(`^(?:(?:\(\d+\) |\[Errno \d+\] |\d{3} )?(?i:no such (?:file or directory|host)|not a directory|is a directory|read-only file system|exec format error|` +
	`permission denied|operation not permitted|access denied|no space left on device|input/output error|file exists|already exists|not found|invalid argument|` +
	`unauthorized|forbidden|connection refused|connection reset by peer|i/o timeout|eof)\W*|(?:is|are|was|were|has|have|does|did) .*|` +
	"(?:\"[^\"]*\"|'[^']*'|`[^`]*`|\\S*[/.:~\\d]\\S*)[.,;)]*(?: \\(.*)?)$")

// clauseAt returns where the clause begins that follows a colon, or the field that the colon is a part of.
func clauseAt(colon int, fields [][]int) int {
	for _, field := range fields {
		if field[0] <= colon && colon < field[1] {
			return field[0]
		}
	}
	return colon + len(": ")
}

// Cut returns the first words of a text, in at most the given number of characters. It cuts a word only if that has more.
func Cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	switch {
	case fits(text, most):
		return text
	case most < 1:
		return ""
	}
	text = strings.TrimSpace(text)
	head := words(text, most-1)
	if next := strings.Fields(text[len(head):]); len(next) > 0 && !fits(strings.TrimRight(next[0], marks), most-1) {
		head = strings.TrimRight(string([]rune(text)[:min(most-1, utf8.RuneCountInString(text))]), " "+marks)
	}
	return strings.TrimRight(head, "…") + "…"
}

// marks may end a word.
const marks = ",;:."

// words returns the words at the beginning of a text that fit into the given number of characters. A value in quotes or braces is
// left out rather than cut.
func words(text string, most int) string {
	end, closed := 0, 0
	for at, r := range text + " " {
		if !unicode.IsSpace(r) {
			continue
		}
		head := strings.TrimRight(text[:at], " "+marks)
		if !fits(head, most) {
			break
		}
		end = len(head)
		if strings.Count(head, `"`)%2 == 0 && strings.LastIndexByte(head, '{') <= strings.LastIndexByte(head, '}') {
			closed = end
		}
	}
	if 2*closed > end {
		end = closed
	}
	return text[:end]
}

// CutBytes returns at most the given number of bytes of a text, and no part of a character.
func CutBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Crop cuts a list of intervals after the first comma at or after limit bytes, as kubectl describe does.
func Crop(list string, limit int, ellipsis string) string {
	if len(list) <= limit {
		return list
	}
	comma := strings.IndexByte(list[limit:], ',')
	if comma < 0 {
		return list
	}
	return list[:limit+comma+1] + ellipsis
}
