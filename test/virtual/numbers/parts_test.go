package numbers

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// wrongSums returns totals that are not the sum of their parts.
func wrongSums(r *explain.Report, f facts, outputs []output) []string {
	var out []string
	check := func(right bool, format string, args ...any) {
		if !right {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if x := r.Indexes; x != nil {
		sum := x.CompletedCount + x.FailedCount + x.ActiveCount + x.TerminatingCount + x.BackingOffCount + x.PendingCount + x.UnknownCount
		check(sum == x.Total, "indexes:\n    the states of %d indexes have %d", x.Total, sum)
		check(x.ReadyCount <= x.ActiveCount, "ready indexes:\n    %d of %d", x.ReadyCount, x.ActiveCount)
	}
	checkPods(r, check)
	if l := r.BackoffLimit; l != nil && l.Left > 0 {
		all := l.Limit + 1
		if l.Unit == explain.LimitRestarts {
			all = max(l.Limit, 1) // For restarts, the Job fails when the limit is reached.
		}
		check(l.Used+l.Left == all, "backoffLimit:\n    %+v", *l)
	}
	checkFailures(r, f, check)
	for _, o := range outputs {
		checkOutput(r, o, check)
	}
	return out
}

type checkFunc func(right bool, format string, args ...any)

// checkPods checks that each pod is active, terminating, or ended.
func checkPods(r *explain.Report, check checkFunc) {
	c := &r.Counts
	if c.Pods == nil {
		return
	}
	ended, phaseFailed := int32(0), int32(0)
	for i := range r.Pods {
		if r.Pods[i].Counted != "" {
			ended++
		}
		if r.Pods[i].Phase == "Failed" {
			phaseFailed++
		}
	}
	check(int(*c.Pods) == len(r.Pods), "pods:\n    %d, and %d are listed", *c.Pods, len(r.Pods))
	check(*c.ActivePods+*c.TerminatingPods+ended == *c.Pods, "pods:\n    %d active, %d terminating and %d ended of %d", *c.ActivePods, *c.TerminatingPods, ended, *c.Pods)
	check(*c.FailedPods == phaseFailed, "failed pods:\n    %d, and %d are listed", *c.FailedPods, phaseFailed)
	check(*c.ReadyPods <= *c.ActivePods, "ready pods:\n    %d of %d", *c.ReadyPods, *c.ActivePods)
}

// checkFailures checks that causes and failures without a cause add up to all failures, as do those that count; pods
// stopped by the Job are not failures.
func checkFailures(r *explain.Report, f facts, check checkFunc) {
	all := r.FailuresWithoutPod
	for i := range r.Causes {
		if !r.Causes[i].IsStopped() {
			all += r.Causes[i].Count
		}
	}
	c := &r.Counts
	counts := c.Failed + c.UncountedFailed - c.StoppedFailures
	total := max(all, counts)
	check(counts >= 0, "stopped failures:\n    %+v", *c)
	check(counts+c.AwaitReplacement <= total, "awaiting failures:\n    %d failures: %+v", total, *c)
	for _, one := range f[failures] {
		n, _ := strconv.Atoi(one.value)
		check(n == int(total), "sum of causes:\n    %d, and %s", all, one)
	}
	note := regexp.MustCompile(`(\d+) failures? \(([^)]*)\)`)
	for _, m := range note.FindAllStringSubmatch(f.words(failures), -1) {
		sum := 0
		for part := range strings.SplitSeq(m[2], ", ") {
			n, _ := strconv.Atoi(strings.Fields(part)[0])
			sum += n
		}
		total, _ := strconv.Atoi(m[1])
		check(sum <= total, "failures:\n    %s", m[0])
	}
}

// words returns the words of all facts with a name, one per line.
func (f facts) words(name string) string {
	var out []string
	for _, one := range f[name] {
		out = append(out, one.words)
	}
	return strings.Join(out, "\n")
}

func (f fact) String() string { return fmt.Sprintf("%s: %q", f.output, f.words) }

var (
	inTitle = regexp.MustCompile(`\S (\d+) (?:failed|pending|terminating|running|succeeded|stopped)`)
	percent = regexp.MustCompile(`(<?\d+%)\s+(\d+)/(\d+)`)
	// endOffset matches the time of the terminal condition.
	endOffset = regexp.MustCompile(`Condition (?:Failed|Complete): [^\n]*\(\+([^)\n]+)\)|\+(\w+) +!? *Condition +Condition (?:Failed|Complete) \(`)
)

// checkOutput checks the sums in one output, and that the Job's duration is the time from its start to its end.
func checkOutput(r *explain.Report, o output, check checkFunc) {
	lines := strings.Split(o.text, "\n")
	isView := strings.HasPrefix(o.name, "view") && !strings.HasSuffix(o.name, "list")
	if isView {
		if m := percent.FindStringSubmatch(lines[progressLine]); m != nil {
			have, _ := strconv.ParseInt(m[2], 10, 64)
			total, _ := strconv.ParseInt(m[3], 10, 64)
			check(m[1] == wording.Percent(have, total), "percent:\n    %s", m[0])
		}
	}
	switch {
	case isView && strings.HasSuffix(o.name, " pods"):
		title, sum := 0, 0
		if _, err := fmt.Sscan(lines[bodyLine], &title); err != nil {
			break // No pods.
		}
		// On a narrow screen, the counts may take a second line.
		counts := strings.Join(lines[bodyLine:bodyLine+2], "\n")
		for _, m := range inTitle.FindAllStringSubmatch(counts, -1) {
			n, _ := strconv.Atoi(m[1])
			sum += n
		}
		check(sum == title, "pods of the tab:\n    %q", counts)
	case isView && strings.HasSuffix(o.name, " indexes") && r.Indexes != nil && r.Indexes.Total > 0:
		sum := 0
		for _, m := range legend.FindAllStringSubmatch(strings.Join(lines[bodyLine:], "\n"), -1) {
			n, _ := strconv.Atoi(m[1])
			sum += n
		}
		check(sum == int(r.Indexes.Total+r.Indexes.OutOfRangeCount), "legend of the map:\n    %d of %+v", sum, *r.Indexes)
	case o.name == "explanation" && r.Job.Finished != nil && r.Verdict.Reason != batchv1.JobReasonSuccessPolicy:
		for _, m := range endOffset.FindAllStringSubmatch(o.text, -1) {
			check(m[1]+m[2] == wording.Seconds(*r.Job.DurationSeconds), "time of the end:\n    after %ds, and %q", *r.Job.DurationSeconds, m[0])
		}
	}
}
