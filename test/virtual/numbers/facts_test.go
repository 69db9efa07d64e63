package numbers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// fact is a number or a duration in an output, with the words that name it.
type fact struct{ value, words, output string }

// facts are the facts of all outputs, by name.
type facts map[string][]fact

func (f facts) add(name, value, words, output string) {
	if name != "" && value != "" {
		f[name] = append(f[name], fact{value, strings.Join(strings.Fields(words), " "), output})
	}
}

// sentence finds facts in a text: names are the names of the pattern's groups.
type sentence struct {
	pattern *regexp.Regexp
	names   []string
}

// met records for each pattern whether it ever matched: a pattern that never matches is out of date.
var met = map[string]bool{}

func states(pattern string, names ...string) sentence {
	met[pattern] = false
	return sentence{regexp.MustCompile(pattern), names}
}

func (f facts) read(output, text string, sentences []sentence) {
	for _, s := range sentences {
		for _, m := range s.pattern.FindAllStringSubmatch(text, -1) {
			met[s.pattern.String()] = true
			for i, name := range s.names {
				f.add(name, m[i+1], m[0], output)
			}
		}
	}
}

// Names of facts. Numbers of pods are counted from the pods, unless the name contains "status"; if pods could not be
// read, only the status is known.
const (
	active, ready, terminating, podCount          = "active pods", "ready pods", "terminating pods", "pods"
	podsFailed, podsStopped, podsSucceeded        = "pods that failed", "pods stopped by the Job", "pods in phase Succeeded"
	statusActive, statusReady, statusTerminating  = "status.active", "status.ready", "status.terminating"
	statusSucceeded, statusFailed                 = "status.succeeded", "failures that the status counts or has recorded"
	succeeded, completions                        = "succeeded", "completions"
	failures, counted, ignored, unrecorded        = "failures", "failures in the status", "ignored failures", "failures that are not in the status yet"
	unknownCause                                  = "failures without a known cause"
	limitUsed, limit, limitLeft, limitEnd         = "used backoffLimit", "backoffLimit", "left of backoffLimit", "end of backoffLimit"
	maxUsed, maxLimit, maxLeft, maxEnd            = "failed indexes of the limit", "maxFailedIndexes", "left of maxFailedIndexes", "end of maxFailedIndexes"
	duration, retry, deadline, deleted, graceEnds = "duration", "time to the next retry", "time to the deadline", "time to the deletion", "time to the end of the grace period"
	indexTotal, stopped, held                     = "indexes", "pods that did not fail on their own", "time without progress"
)

func indexesIn(state string) string { return state + " indexes" }

// Sentences in any text: the verdict, the limits, and the next events.
var anywhere = []sentence{
	states(`(\d+) of (\d+) (?:index|indexes|pods?) succeeded`, succeeded, completions),
	states(`(?:running|back-off for another \S+): (\d+) pods? succeeded`, succeeded),
	states(`(\d+) pods? (?:is|are) active`, active),
	states(`active, (\d+) failed(?: \((\d+) in the status\))?`, failures, counted),
	states(`back-off for another (\S+):`, retry),
	states(`(\d+) index(?: is|es are) in back-off, the first (?:may be|is) retried in (\S+?)[;.]`, indexesIn("backing off"), retry),
	states(`it waits for (\d+) running pods?`, active),
	states(`it waits for (?:\d+ running pods? and )?(\d+) terminating pods?`, terminating),
	states(`(\d+) pods? failed, and backoffLimit`, limitUsed),
	states(`backoffLimit \d+: (\d+) pods? failed`, limitUsed),
	states(`backoffLimit [█░ ]*(\d+) (?:failures?|restarts?); the Job fails at (\d+)`, limitUsed, limitEnd),
	states(`fails after (\d+) more (?:failures?|restarts?) \(backoffLimit (\d+)\)`, limitLeft, limit),
	states(`backoffLimit [█░ ]*exceeded: (\d+) failures?, (\d+) allowed`, limitUsed, limit),
	states(`maxFailedIndexes [█░ ]*(\d+) failed index(?:es)?; the Job fails at (\d+)`, maxUsed, maxEnd),
	states(`fails after (\d+) more failed index(?:es)? \(maxFailedIndexes (\d+)\)`, maxLeft, maxLimit),
	states(`(?:in (\S+?)|now)(?:, at \S+)?:? +(?:The back-off ends|Pods are created again|Index \d+ (?:may get|gets)|The first of)`, retry),
	states(`The first of (\d+) indexes in back-off`, indexesIn("backing off")),
	states(`in (\S+?)(?:, at \S+)?:? +The Job fails if`, deadline),
	states(`deadline [█░ ]*\S+ of \S+, (\S+) left`, deadline),
	states(`in (\S+?)(?:, at \S+)?:? +The grace period of (\d+) terminating`, graceEnds, terminating),
	states(`in (\S+?)(?:, at \S+)?:? +The Job and its pods are deleted`, deleted),
	states(`(\d+) index(?:es)? ha(?:s|ve) failed`, indexesIn("failed")),
	states(`(\d+) of its (\d+) index(?:es)? failed`, indexesIn("failed"), indexTotal),
	states(`(\d+) of (\d+) index(?:es)? failed(?:, (\d+) succeeded)?`, indexesIn("failed"), indexTotal, succeeded),
	states(`(\d+) (?:other )?pods? (?:was|were) stopped`, stopped),
	states(`others start: (\d+) index(?:es)? (?:is|are) pending`, indexesIn("pending")),
	states(`complete: .* in (\S+)\.`, duration),
	states(`Causes\W+(\d+) failures?(?:,|\s|$)`, failures),
	states(`Causes\W+(\d+) failures? \((?:(\d+) not in the status yet)?(?:, )?(?:(\d+) ignored)?\)`, failures, unrecorded, ignored),
}

// Sentences that are on one line about the pods.
var (
	countsLine = []sentence{
		states(`status says (\d+) active, (\d+) of them still`, statusActive, active),
		states(`(?:^Pods +|, |: )(\d+) active(?: \((\d+) ready\))?`, active, ready),
		states(`(\d+) terminating`, terminating),
		states(`(\d+) of (\d+) succeeded`, succeeded, completions),
		states(`(?:, |: )(\d+) succeeded, \d+ failed`, succeeded),
		states(`(\d+) failed(?:, \d+ stopped by the Job)?$`, failures),
		states(`(\d+) failed \((\d+) in the status\)`, failures, counted),
	}
	headline = []sentence{states(`^[^!‖].*(?:, for|, after) (\S+)$`, duration), states(`^[!‖].*, for (\S+)$`, held)}
	timeLine = []sentence{states(`ran (\S+)$`, duration)}
	progress = []sentence{
		states(`(\d+)/(\d+)`, succeeded, completions),
		states(`^(\d+) succeeded`, succeeded),
		states(`(\d+) active(?: \((\d+) ready\))?`, active, ready),
		states(`(\d+) (?:terminating|ending)`, terminating),
		states(`(\d+) (?:in )?back-off`, indexesIn("backing off")),
		states(`(\d+) index(?:es)? failed`, indexesIn("failed")),
		states(`(\d+) (?:failures?|failed)(?: \((\d+) in the status\))?`, failures, counted),
	}
	clocks = []sentence{
		states(`next retry in (\S+)`, retry), states(`deadline in (\S+)`, deadline), states(`deleted in (\S+)`, deleted),
		states(`(?:runs for|ran) ([^\s,]+)`, duration),
	}
	podsExist   = []sentence{states(`(\d+) pods? exists?`, podCount), states(`exists?: (?:\d+ succeeded, )?(\d+) failed`, podsFailed), states(`exists?: .*?(\d+) stopped by the Job`, podsStopped)}
	anyCounted  = states(`(\d+) in the status`, counted)
	failuresTab = []sentence{
		states(`^(\d+) failures?`, failures), anyCounted, states(`(\d+) not in the status yet`, unrecorded), states(`(\d+) ignored`, ignored), states(`; (\d+) unknown`, unknownCause),
	}
	podsTab = []sentence{
		states(`^(\d+) pods?`, podCount), states(`✗ (\d+) failed`, podsFailed), states(`· (\d+) stopped by the Job`, podsStopped), states(`… (\d+) terminating`, terminating), states(`✓ (\d+) succeeded`, podsSucceeded),
	}
	listRow     = []sentence{states(`▌ .* (\d+)/\d+(?: of \d+)? +(\d+)(?:\((\d+)\))? +\d`, statusSucceeded, statusActive, statusReady)}
	wideListRow = []sentence{states(`▌ .* (\d+)/\d+(?: of \d+)? +(\d+)(?:\((\d+)\))? +(\d+|-) +(\d+)(?: |$)`, statusSucceeded, statusActive, statusReady, statusTerminating, statusFailed)}
	termListRow = []sentence{states(`▌ .* (\d+)/\d+(?: of \d+)? +(\d+|-) +(\d+)(?: |$)`, statusSucceeded, statusTerminating, statusFailed)}
	waitLine    = []sentence{
		states(`(\d+)(?:/\d+)? done`, statusSucceeded), states(`(\d+) active(?: \((\d+) ready\))?`, statusActive, statusReady), states(`(\d+) pods? failed`, statusFailed),
		states(`(\d+) terminating`, statusTerminating), states(`stopping (\d+) pods?`, statusTerminating), states(`(?:, | )(\d\w+)(?:; see: [^\n]*)?\n`, duration),
	}
	indexRow = regexp.MustCompile(`^  ([a-z][a-z -]+[a-z]) +(\d+)  \d`)
	legend   = regexp.MustCompile(`[■·●○?+◌↻↺✗] (\d+) (succeeded|completed|pending|not completed|not started|will not complete|waiting to retry|ready|not ready|active|unknown|out of range|terminating|in back-off|failed)`)
)

// readOutput adds the facts of an output.
func (f facts) readOutput(o output) {
	lines := strings.Split(o.text, "\n")
	switch {
	case o.name == "json":
		f.readJSON(o)
	case o.name == "wait":
		f.read(o.name, o.text, waitLine)
	case o.name == "status":
		f.readRow(o)
	case strings.HasSuffix(o.name, " list"):
		active, terminating := strings.Contains(lines[2], "ACTIVE"), strings.Contains(lines[2], "TERM")
		if active {
			f.read(o.name, lines[3], listRow)
		}
		switch {
		case active && terminating:
			f.read(o.name, lines[3], wideListRow)
		case terminating:
			f.read(o.name, lines[3], termListRow)
		}
	case strings.HasPrefix(o.name, "view"):
		f.readView(o, lines)
	default:
		f.readPage(o, lines)
	}
}

func (f facts) readPage(o output, lines []string) {
	f.read(o.name, o.text, anywhere)
	f.read(o.name, lines[0], headline)
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "Counts: "), strings.HasPrefix(line, "Pods   "):
			line, _, _ = strings.Cut(line, ", not in the status yet: ")
			f.read(o.name, line, countsLine)
		case strings.HasPrefix(line, "Time   "):
			f.read(o.name, line, timeLine)
		case strings.Contains(line, " exist"):
			f.read(o.name, line, podsExist)
		}
		if m := indexRow.FindStringSubmatch(line); m != nil {
			f.add(indexesIn(stateName(m[1])), m[2], line, o.name)
		}
	}
}

// stateName returns the JSON name of a state of indexes.
func stateName(word string) string {
	switch word {
	case "succeeded":
		return "completed"
	case "in back-off":
		return "backing off"
	case "not completed":
		return "pending"
	case "waiting to retry":
		return "retrying"
	}
	return word
}

// Lines of the view.
const (
	progressLine, clockLine, bodyLine = 2, 3, 5
)

func (f facts) readView(o output, lines []string) {
	f.read(o.name, lines[progressLine], progress)
	f.read(o.name, lines[clockLine], clocks)
	switch {
	case strings.HasSuffix(o.name, " pods"):
		f.read(o.name, lines[bodyLine], podsTab)
		return
	case strings.HasSuffix(o.name, " failures"):
		f.read(o.name, strings.Join(lines[bodyLine:bodyLine+2], ""), failuresTab)
		return
	case strings.HasSuffix(o.name, " indexes"):
		f.read(o.name, o.text, []sentence{anyCounted})
		f.readLegend(o, strings.Join(lines[bodyLine:], "\n"))
		return
	}
	columns := []string{strings.Join(lines[bodyLine:len(lines)-1], "\n")}
	if o.name == "view160" {
		columns = halves(lines[bodyLine : len(lines)-1])
	}
	for _, column := range columns {
		// Wrapped lines are joined to one sentence.
		joined := strings.Join(strings.Fields(strings.ReplaceAll(column, "\n\n", " ─ ")), " ")
		f.read(o.name, joined, anywhere)
		f.readLegend(o, column)
	}
}

func (f facts) readLegend(o output, text string) {
	for _, m := range legend.FindAllStringSubmatch(text, -1) {
		f.add(indexesIn(stateName(m[2])), m[1], m[0], o.name)
	}
}

// halves returns the two columns of a wide screen.
func halves(lines []string) []string {
	const half, gap = 78, 3
	var left, right []string
	for _, line := range lines {
		r := []rune(line)
		left = append(left, string(r[:min(half, len(r))]))
		right = append(right, string(r[min(half+gap, len(r)):]))
	}
	return []string{strings.Join(left, "\n"), strings.Join(right, "\n")}
}

// columnNames maps columns of status to names of facts.
var columnNames = map[string]string{"TERMINATING": statusTerminating, "FAILED": statusFailed, "DURATION": duration}

func (f facts) readRow(o output) {
	header, row, _ := strings.Cut(o.text, "\n")
	between := regexp.MustCompile(` {2,}`)
	at := 0
	for name := range slices.Values(between.Split(header, -1)) {
		cell := strings.TrimSpace(cellAt(row, at))
		at += len(name)
		at += len(header[at:]) - len(strings.TrimLeft(header[at:], " "))
		switch {
		case name == "ACTIVE(READY)":
			n, inBrackets, _ := strings.Cut(strings.TrimSuffix(cell, ")"), "(")
			f.add(statusActive, n, name+" "+cell, o.name)
			f.add(statusReady, inBrackets, name+" "+cell, o.name)
		case name == "DONE":
			n, _, _ := strings.Cut(cell, "/")
			f.add(statusSucceeded, n, name+" "+cell, o.name)
		case cell != "-":
			f.add(columnNames[name], cell, name+" "+cell, o.name)
		}
	}
}

// cellAt returns the cell that begins at a column of a table.
func cellAt(row string, at int) string {
	if at >= len(row) {
		return ""
	}
	cell, _, _ := strings.Cut(row[at:], "  ")
	return cell
}

func (f facts) readJSON(o output) {
	var r explain.Report
	if err := json.Unmarshal([]byte(o.text), &r); err != nil {
		f.add("json", err.Error(), "", o.name)
		return
	}
	f.read("json verdict", r.Verdict.Sentence, anywhere)
	for i := range r.Next {
		f.read("json next", wording.Sentence(r.Next[i].Text), anywhere)
	}
	c := &r.Counts
	number := func(name string, n int32) { f.add(name, strconv.Itoa(int(n)), "", "json "+name) }
	known := func(name string, n *int32, otherwise ...string) {
		for _, name := range append(otherwise, name) {
			if n != nil {
				number(name, *n)
			}
		}
	}
	number(statusActive, c.Active)
	known(statusReady, c.Ready)
	known(statusTerminating, c.Terminating)
	number(statusSucceeded, c.Succeeded)
	number(statusFailed, c.Failed+c.UncountedFailed)
	known(active, c.ActivePods)
	known(ready, c.ReadyPods)
	known(terminating, c.TerminatingPods)
	known(podCount, c.Pods)
	if c.FailedPods != nil {
		number(podsFailed, *c.FailedPods-c.StoppedPods)
		number(podsStopped, c.StoppedPods)
	}
	number(counted, c.Failed+c.UncountedFailed-c.StoppedFailures)
	number(unknownCause, r.FailuresWithoutPod)
	if l := r.BackoffLimit; l != nil {
		number(limit, l.Limit)
		number(limitUsed, l.Used)
		number(limitLeft, l.Left)
		number(limitEnd, l.Used+l.Left)
	}
	if d := r.Job.DurationSeconds; d != nil {
		f.add(duration, wording.Seconds(*d), "durationSeconds", "json")
	}
	f.readWaits(&r)
	f.readIndexes(o, r.Indexes)
}

// readWaits adds the waits as durations from the time of the report.
func (f facts) readWaits(r *explain.Report) {
	names := map[explain.WaitKind]string{
		explain.WaitBackoff: retry, explain.WaitIndexBackoff: retry, explain.WaitDeadline: deadline, explain.WaitTTL: deleted, explain.WaitGrace: graceEnds,
	}
	for i := range r.Waits {
		w := &r.Waits[i]
		f.add(names[w.Kind], wording.Duration(w.Until.Sub(r.ObservedAt.Time)), string(w.Kind), "json")
	}
}

// capital matches the beginning of a word in a JSON name.
var capital = regexp.MustCompile(`[A-Z]`)

// readIndexes adds the lengths of the index lists by their JSON names, such as notStartedCount.
func (f facts) readIndexes(o output, x *explain.Indexes) {
	var all struct{ Indexes map[string]any }
	if err := json.Unmarshal([]byte(o.text), &all); err != nil || x == nil {
		return
	}
	for name, n := range all.Indexes {
		if state, isCount := strings.CutSuffix(name, "Count"); isCount {
			f.add(indexesIn(strings.ToLower(capital.ReplaceAllString(state, " $0"))), fmt.Sprint(n), name, "json")
		}
	}
	f.add(indexTotal, fmt.Sprint(x.Total), "total", "json")
	f.add(succeeded, fmt.Sprint(x.CompletedCount), "completedCount", "json")
	f.add(indexesIn("not ready"), fmt.Sprint(x.ActiveCount-x.ReadyCount), "activeCount-readyCount", "json")
}

// contradictions returns the names that have several values.
func (f facts) contradictions() []string {
	var out []string
	for name, all := range f {
		values := map[string][]string{}
		for _, one := range all {
			values[one.value] = append(values[one.value], fmt.Sprintf("%s: %q", one.output, one.words))
		}
		if len(values) < 2 {
			continue
		}
		text := name + ":"
		for value, where := range values {
			slices.Sort(where)
			where = slices.Compact(where)
			text += fmt.Sprintf("\n    %s in %s", value, strings.Join(where[:min(len(where), 4)], ", "))
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}
