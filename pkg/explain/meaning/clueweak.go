package meaning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// weakAsks are the subjects of errors of which only one word is known. Their advice names who refuses, as whom the program asks, and which
// version does so. weakAsks come before a server that is not reached, and lastAsks after it.
var (
	weakAsks = []ask{
		{lazyregexp.New(`(?i)((?:\bcert(?:ificate)?s?|\bx509|_CERT|\bTLS|\bSSL)\b)`), "have the program trust the certificate of {server} (give container {container} that of the CA which signed it{trust}), or correct the certificate, or how the program connects ({addresses})"},
		{lazyregexp.New(`(?i)((?:\bnot |n't )(?:\w+ ){0,2}?(?:authorized|allowed|entitled)\b|\b(?:no|lacks?|missing|insufficient|need\w*|have) (?:[\w()]+ ){0,6}(?:permission|privilege)s?\b|\b(?:denie[ds]|forbidden)\b)`), "grant what the message names to the user or account of the program{at server}, or have it log in as one that has it: {credentials}"},
		{lazyregexp.New(`(?i)((?:^|[^\w-])(?:pass(?:word|wd|phrase)|credentials?|authenticat\w+|unauthori[sz]ed|(?:api|access|secret)[ _-]?key|user ?name|log[ -]?in|logged in|anonymous|SASL|(?:access|auth\w*|bearer|api|refresh|id|security|session|service)[ _-]?token)\b)`), "check as whom the program logs in{at server}, and the password, key or token: {credentials}"},
	}
	lastAsks = []ask{
		{lazyregexp.New(`(?i)(^Status message: |\b(?:ray|actor|spark|flink|dask|argo|prefect|airflow)\b.{0,40}\b(?:failed|died|crashed|aborted|errored|was lost)\b)`), "look at {server} if it does the work that failed, and read {log of server}"},
		{lazyregexp.New(`(?i)(\block(?:ed|s|ing)?\b)`), heldLock},
		{lazyregexp.New(`(?i)\b(not (?:yet )?(?:been )?(?:initiali[sz]ed|bootstrapped|configured|set up|registered)\b)`), "have what the program works with set up before this Job, as it was {1}, or correct where the program looks for it: {addresses}"},
		{lazyregexp.New(`(?i)(\bmigrat(?:ed?|ions?|ing)\b|\w+\.migrations\.\w+)`), "find out which migrations {server} has, and complete or undo by hand the one that failed or is marked as running, unless one runs; or use the version of image {image} that fits it: until then, a rerun fails again"},
		{lazyregexp.New(`(?i)(\b(?:versions?|\w*compatible|deprecated|no longer|too (?:old|new)|is not supported|not supported (?:by|in|on|with|for)|does not support|unsupported (?:\w+ )?(?:version|media ?type|protocol|schema|api|release|platform|dialect))\b)`), otherVersion},
		{lazyregexp.New(`(?i)(\balready\b|\bexists\b|\b(?:not|expected) (?:be )?empty\b|\bin use\b)`), "find out what is there, such as from an earlier run: have the program accept it or use another name, or remove it if nothing needs it; until then, a rerun fails again"},
		{lazyregexp.New("(?i)(?:[\"'`‘“\\[(]([\\w./:@ -]+)[\"'`’”\\])]|\\b([\\w:@-]+[./_-][\\w./:@-]+)) (?:does not exist|doesn't exist|(?:was |could )?not (?:be )?found|is (?:un|not )defined)|\\b(?:unknown|no such) [a-z]+: [\"'`]?([\\w./:@-]+\\w)"), "create {1} first, use an image that has it ({image}), or correct its name, which the program has from {template}"},
		{lazyregexp.New(`(?i)\bno ([a-z]+(?: [a-z]+){0,2}?) (?:was |were )?found\b`), "find out why the program finds no {1}: {configuration}"},
		{lazyregexp.New(`(?i)(\btimed? ?-?out\b|deadline exceeded)`), "give the program more time, by its own option for that, or find out what it waits for"},
	}
)

// lastReason is the clue of a subject, in the last part of the error that has one: what follows a colon is the reason of what is before it.
func lastReason(q *Clue, c *Container) Remedy {
	if utility.MatchString(q.Words) || !complaint.MatchString(q.Words) && !readLine(q.Words).isError() { // It works on files, or this is no complaint.
		return Remedy{}
	}
	parts := append([]string{q.Words}, strings.Split(q.Words, ": ")...)
	for _, part := range slices.Backward(parts) {
		silent := Remedy{}
		if noServer.MatchString(part) {
			silent = q.namedServer(c)
		}
		if out := cmp.Or(q.phraseIn(part, weakAsks, c), silent, q.phraseIn(part, lastAsks, c)); out.Text != "" {
			return out
		}
	}
	return Remedy{}
}

// heldLock is advice on a lock that something else holds.
const heldLock = "let the other run that holds the lock end, or end it; if none does, one that was killed has left it: release the lock with the tool, or where it is kept{schedules}"

// wantedVariable matches what programs say about a variable that they lack.
var wantedVariable = lazyregexp.New(`(?i)\b(?:not|missing|requir\w+|needs?|must|empty|un(?:defined|set)|specify|provide|environment)\b`)

// missingVariable is the clue of a variable that the program lacks, and the template, too.
func missingVariable(q *Clue, c *Container) string {
	name := constants.FindString(q.Words)
	if name == "" || c.variable(name) != nil || !wantedVariable.MatchString(q.Words) {
		return ""
	}
	return "set " + name + " in env of container " + c.Name + prefixed(", unless it is to come from ", c.givenConfiguration())
}

// ofUsage matches what programs say about their command line.
var ofUsage = lazyregexp.New(`(?i)\bchoose from\b|\barg(?:ument|\(s\)|s\b)|\b(?:un\w+|invalid|no such|missing|required) (?:\w+ )?(?:(?:sub)?command|choice|options?|flags?)\b|\b(?:options?|flags?)\b.*\b(?:required|invalid|not|unknown)\b`)

// wrongUsage is the clue of a command line that the program does not accept.
func wrongUsage(q *Clue, c *Container) string {
	if strings.Contains(q.Words, "TypeError") || !ofUsage.MatchString(q.Words) { // Python calls parameters of functions arguments, too.
		return ""
	}
	return usageAdvice(&KnownError{Subject: q.Words}, *c)
}

// givenWord is the clue of a word that the program has from the pod template, about which nothing else is known.
func givenWord(q *Clue, c *Container) string {
	word, place, isWhole := q.origin(c)
	if !isWhole && !special.MatchString(word) || place == "" || place == c.inArguments() {
		return ""
	}
	return "check " + asWord(word) + ", which" + given(place)
}

// reached returns the remedy for a server whose address the error has.
func (q *Clue) reached(c *Container) Remedy {
	e := &KnownError{Kind: ErrorNoConnection, Subject: cmp.Or(addressInLine.Group(q.Words), hostIn(q.Words))}
	if e.Subject == "" || sourceLine.MatchString(e.Subject) {
		return Remedy{}
	}
	return cmp.Or(e.ofPeer(q, c), Remedy{Text: e.Advice(*c), Elsewhere: e.IsElsewhere()})
}
