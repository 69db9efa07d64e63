package failures

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Group is the failures of one cause, the latest first; there is at least one. Consequences of the end of the Job form a group of their own.
type Group struct {
	Kind        *Kind
	Consequence bool
	Failures    []*Failure
}

func group(failures []*Failure) []*Group {
	type key struct {
		kind        *Kind
		consequence bool
	}
	byKey := map[key]*Group{}
	var all []*Group
	for _, f := range failures {
		k := key{f.Kind, f.Consequence}
		g := byKey[k]
		if g == nil {
			g = &Group{Kind: f.Kind, Consequence: f.Consequence}
			byKey[k] = g
			all = append(all, g)
		}
		g.Failures = append(g.Failures, f)
	}
	slices.SortStableFunc(all, func(x, y *Group) int {
		return cmp.Or(lists.FalseFirst(x.Consequence, y.Consequence), cmp.Compare(len(y.Failures), len(x.Failures)), cmp.Compare(x.Kind.Text, y.Kind.Text))
	})
	return all
}

// lastOfIndexes returns the last failures of indexes that have failed.
func lastOfIndexes(in *facts.Facts, all []Failure) []*Failure {
	seen := map[int32]bool{}
	var out []*Failure
	for i := range all { // The latest first.
		if f := &all[i]; !f.Consequence && in.Plan.Findings.FailedIndexes.Contains(f.Pod.Index) && !seen[f.Pod.Index] {
			seen[f.Pod.Index] = true
			out = append(out, f)
		}
	}
	return out
}

// FailedIndexes returns the failed indexes whose last failure is in the group.
func (fs *Failures) FailedIndexes(g *Group) indexset.Set {
	if g.Consequence {
		return indexset.Set{}
	}
	var indexes []int32
	for _, f := range fs.lastOfIndexes {
		if f.Kind == g.Kind {
			indexes = append(indexes, f.Pod.Index)
		}
	}
	return indexset.Of(indexes...)
}

// examples returns the pod that the condition names, then the latest pod of each cause, the decisive causes first.
func examples(in *facts.Facts, fs *Failures, o explain.Options) []*Failure {
	var out []*Failure
	name := in.Decision.MatchedPod.Name
	if f := lists.First(fs.All, func(f *Failure) bool { return f.Pod.Name == name }); f != nil {
		out = append(out, f)
	}
	for _, g := range slices.Concat(fs.Decisive, fs.Groups) {
		if f := g.Failures[0]; !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	if f := restartedFailure(&fs.Restarts, o); len(out) == 0 && f != nil {
		out = append(out, f)
	}
	return out
}

// Ignored reports whether the failures do not count.
func (g *Group) Ignored() bool {
	return g.Kind.Cause.Action == batchv1.PodFailurePolicyActionIgnore
}

// Stopped returns the reason for stopping that all failures share, "" if they differ.
func (g *Group) Stopped() explain.StopReason {
	reason := g.Failures[0].Stopped
	if slices.ContainsFunc(g.Failures, func(f *Failure) bool { return f.Stopped != reason }) {
		return ""
	}
	return reason
}

// Cause returns the group as a value of the report.
func (g *Group) Cause(in *facts.Facts) explain.Cause {
	latest := g.Failures[0]
	c := CauseOf(&g.Kind.Cause, latest.Pod.Disruption)
	c.Source, c.Count, c.Consequence, c.Stopped = explain.SourcePods, int32(len(g.Failures)), g.Consequence, g.Stopped()
	if container := latest.Container(); container != nil && facts.LimitOfKilled(in, container) != nil {
		c.MemoryLimit = facts.LimitOfKilled(in, container)
		c.Meaning = words.LimitText(c.MemoryLimit)
	}
	switch end := latest.Ending(); {
	case end != nil:
		EndWith(&c, *end, "")
		c.Text += words.AfterText(latest.AfterSuccess(in))
	case g.Kind.Hidden.Container != "":
		c.Hidden, c.Text, c.Meaning = &g.Kind.Hidden, g.Kind.Text, ""
	default:
		g.addExits(in, &c)
	}
	var indexes []int32
	for i, f := range g.Failures {
		if i < explain.MaxExamples {
			c.Pods = append(c.Pods, f.Pod.Name)
		}
		if f.Pod.Index >= 0 {
			indexes = append(indexes, f.Pod.Index)
		}
		if f.isRead(in) {
			c.Read++
		}
		if c.Message == "" {
			c.Message = f.Message()
		}
		if c.Message == "" && c.LastLine == "" && i < maxSearched {
			if line, sign := f.lastLine(in); line != "" || c.LineSign == meaning.SignError { // A log that was read and is empty says more than an unread one.
				c.LastLine, c.LineSign = line, sign
			}
		}
	}
	c.Place = g.place(in, &c)
	c.Silent = latest.IsUnexplained(in)
	g.addRetry(in, &c)
	c.Indexes = indexset.Of(indexes...).String()
	c.IndexList = explain.ListIndexes(c.Indexes)
	c.First, c.Last = explain.TimeOf(g.Failures[len(g.Failures)-1].Pod.FinishedAt), explain.TimeOf(latest.Pod.FinishedAt)
	return c
}

// place returns what the program of the latest pod worked on; "" if the others may have failed elsewhere.
func (g *Group) place(in *facts.Facts, c *explain.Cause) string {
	if c.Ending != nil || c.Error != nil && c.Error.Subject == "" && len(g.Failures) > 1 {
		return ""
	}
	return g.Failures[0].place(in, c.Error)
}

// OriginOfCollision returns the Origin if its own words differ: it did not end because of what was there already.
func (g *Group) OriginOfCollision(in *facts.Facts) *Failure {
	first := g.Origin(in)
	if first == nil || first.words(in) == "" || meaning.Collides(first.words(in)) {
		return nil
	}
	return first
}

// addRetry gives the cause the words of the first attempt, if the latest one ended because of what an earlier one had left.
func (g *Group) addRetry(in *facts.Facts, c *explain.Cause) {
	if first := g.OriginOfCollision(in); first != nil {
		c.Retry, c.Message, c.Error = g.Failures[0].words(in), first.Message(), first.KnownError(in)
		c.LastLine, c.LineSign = first.lastLine(in)
		if c.Error != nil {
			c.Meaning = c.Error.Text()
		}
	}
}

// Origin returns the first attempt at what the latest pod tried, if that ended because of what an earlier one had left, as its last
// words show; nil if it did not, or if there was no earlier attempt.
func (g *Group) Origin(in *facts.Facts) *Failure {
	latest := g.Failures[0]
	if g.Consequence || len(g.Failures) == 1 || !meaning.Collides(latest.words(in)) {
		return nil
	}
	for _, f := range slices.Backward(g.Failures) {
		if f.Pod.Index == latest.Pod.Index && f.Pod.FinishedAt.Before(latest.Pod.FinishedAt) && !latest.Pod.StartedAt.Before(f.Pod.FinishedAt) {
			return f
		}
	}
	return nil
}

// addExits adds how the containers of the pods ended by themselves: the error that they report, and the others that failed.
func (g *Group) addExits(in *facts.Facts, c *explain.Cause) {
	if g.Failures[0].EndedByInit(in) {
		c.Text = "Init container " + g.Kind.Cause.Container + " " + cause.ExitText(g.Kind.Cause.ExitCode, g.Kind.Cause.Reason)
	}
	if c.Error = g.knownError(in); c.Error != nil {
		c.Meaning = c.Error.Text()
	}
	if c.Also = g.others(in); len(c.Also) > 0 {
		c.Text += words.AlsoText(c.Also)
	}
	if c.After = g.Failures[0].AfterSuccess(in); len(c.After) > 0 {
		c.Text, c.Meaning = c.Text+words.AfterText(c.After), words.OnlyItsExit
	} else {
		c.Done = g.Failures[0].Done(in)
	}
}
