// Package jobgroup groups the Jobs of several reports by cause, the cause of most Jobs first. It compares the values of
// reports, not sentences.
package jobgroup

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// key is equal for Jobs with the same causes and the same fixes. Names of pods make no difference.
type key struct {
	state          explain.GroupState
	kind           explain.ProblemKind
	reason, detail string
	rule           string
	index          int32
	failure, other cause.Failure
	unknown        bool
	fixes          string
}

// Of returns the groups of the Jobs that failed, are stalled, or have failures: failed and stalled Jobs first, then the
// largest groups, then the newest. names are the names of the Jobs in reports.
func Of(reports []explain.Report, names []string) []explain.JobGroup {
	newest := make([]int, len(reports))
	for i := range newest {
		newest[i] = i
	}
	slices.SortStableFunc(newest, func(x, y int) int { return cmp.Compare(lastOf(&reports[y]), lastOf(&reports[x])) })
	place := map[key]int{}
	var groups []explain.JobGroup
	for _, i := range newest {
		k, g := groupOf(&reports[i])
		if g == nil {
			continue
		}
		at, known := place[k]
		if !known {
			at = len(groups)
			place[k] = at
			groups = append(groups, *g)
		}
		groups[at].Count++
		if k.unknown && groups[at].Count > 1 {
			groups[at].Advice = nil // It is about one of the Jobs.
		}
		groups[at].Jobs = append(groups[at].Jobs, names[i])
	}
	slices.SortStableFunc(groups, func(x, y explain.JobGroup) int {
		return cmp.Or(cmp.Compare(rank(x.State), rank(y.State)), cmp.Compare(y.Count, x.Count))
	})
	return groups
}

func rank(s explain.GroupState) int {
	if s == explain.GroupFailed || s == explain.GroupStalled {
		return 0
	}
	return 1
}

// lastOf returns the time at which a Job ended, started, or was created.
func lastOf(r *explain.Report) int64 {
	if t := cmp.Or(r.Job.Finished, r.Job.Started, r.Job.Created); t != nil {
		return t.Unix()
	}
	return 0
}

// groupOf returns the group of one Job, nil if the Job needs no attention.
func groupOf(r *explain.Report) (key, *explain.JobGroup) {
	g := explain.JobGroup{State: stateOf(r), Reason: r.Verdict.Reason, RuleName: r.Verdict.RuleName, Rule: r.Verdict.Rule, Advice: r.Advice}
	how := ""
	k := key{state: g.State, reason: g.Reason, rule: g.RuleName, index: -1}
	if g.RuleName == "" {
		k.index = ptr.Deref(g.Rule, -1)
	}
	causes := causesOf(r)
	if k.unknown = len(causes) == 0 && r.FailuresWithoutPod > 0 && g.State == explain.GroupFailed; !k.unknown {
		k.fixes = fixesOf(r)
	}
	if g.Problem = r.Named(); g.Problem != nil {
		k.kind, k.detail = g.Problem.Kind, detailOf(g.Problem, r.Job.Name)
	} else if len(causes) > 0 {
		c := causes[0]
		g.Failure, how = c.Failure, c.Text
		if k.failure = ptr.Deref(c.Failure, cause.Failure{}); c.Failure == nil {
			k.detail = how // the text of an event or a condition
		}
		if c.Error != nil {
			how += ": " + c.Error.Text()
			k.detail = how
		}
		if len(causes) > 1 {
			k.other = ptr.Deref(causes[1].Failure, cause.Failure{})
		}
	} else if g.State == explain.GroupRunning {
		return k, nil
	}
	g.Text = words.GroupText(&g, how)
	return k, &g
}

func stateOf(r *explain.Report) explain.GroupState {
	switch v := &r.Verdict; {
	case v.Outcome.Fails():
		return explain.GroupFailed
	case v.Stalled && r.Job.Suspend:
		return explain.GroupSuspended
	case v.Stalled:
		return explain.GroupStalled
	}
	return explain.GroupRunning
}

// causesOf returns the causes of a Job that is not complete, the most frequent first, except pods stopped because the Job was
// ending.
func causesOf(r *explain.Report) (out []*explain.Cause) {
	for i := range r.Causes {
		if !r.Causes[i].Consequence && !r.Verdict.Outcome.Succeeds() {
			out = append(out, &r.Causes[i])
		}
	}
	return out
}

// fixesOf returns the fixes that are advised, without commands, which name the Job.
func fixesOf(r *explain.Report) string {
	text := ""
	for i := range r.Advice {
		if a := &r.Advice[i]; a.Kind == explain.AdviceFix || a.Kind == "" {
			text += a.Text + "\x00"
		}
	}
	return text
}

// detailOf returns the parts of a problem that are equal for other Jobs with the same problem.
func detailOf(p *explain.Problem, job string) string {
	pattern := meaning.Patterns(job)
	parts := []string{p.Container, p.Image, p.Start.Reason, p.Node, p.Controller, p.Suspension.Queue, p.Suspension.Manager, p.Asked}
	parts = slices.Concat(parts, p.Deletion.Finalizers, p.Scheduling.Gates, p.Stopping.Running)
	switch p.Kind {
	case explain.ProblemCreationRefused:
		parts = append(parts, string(p.Refusal.Kind), cmp.Or(p.Refusal.By, pattern(p.Refusal.Message)))
	case explain.ProblemContainerConfig, explain.ProblemPodPending:
		parts = append(parts, pattern(strings.Join(p.Details, " ")))
	}
	if p.Suspension.Hold != nil {
		parts = append(parts, string(p.Suspension.Hold.Kind), p.Suspension.Hold.Resource, p.Suspension.Hold.Flavor, p.Suspension.Hold.QueueName)
	}
	if p.Run.Exit != nil {
		parts = append(parts, p.Run.Exit.Container, strconv.Itoa(int(p.Run.Exit.ExitCode)), p.Run.Exit.Reason)
	}
	return strings.Join(parts, "\x00")
}
