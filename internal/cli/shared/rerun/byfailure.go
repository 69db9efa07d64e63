package rerun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ByFailure selects what to rerun by why it failed last.
type ByFailure struct {
	// Cause is one of words.CauseNames; "" for all causes.
	Cause string
	// Probable includes failures whose message or log says that memory ran out.
	Probable bool
	// Container is the only container that gets more memory; "" for all that ran out of it.
	Container string
	// Memory reads the warnings of nodes, too, which may say that a process was killed for lack of memory.
	Memory bool
}

// Chosen are the last failures that were selected.
type Chosen struct {
	client    *Client
	by        ByFailure
	candidate *Candidate
	failures  []analysis.LastFailure
}

// logLines is the number of last lines of logs that may say that memory ran out.
const logLines = 10

// Choose reads the pods of the family, and selects some of the indexes by their last failures.
func (c *Client) Choose(ctx context.Context, f *Candidate, indexes indexset.Set, by ByFailure) (*Chosen, error) {
	c.explainer.LogLines = logLines
	in, err := c.explainer.Input(ctx, f.Object)
	if err != nil {
		return nil, err
	}
	if !in.PodsRead {
		return nil, unreadPods(in.Gaps)
	}
	if name := by.Cause; by.Memory || strings.EqualFold(name, cause.OOMKilled) {
		in.NodeEvents, _ = gather.NodeWarnings(ctx, c.kube) // Few users may read them.
	}
	chosen := &Chosen{client: c, by: by, candidate: f}
	indexed := jobspec.IsIndexed(&f.Job.Spec)
	var others []analysis.LastFailure
	for _, failure := range analysis.LastFailures(in) {
		switch {
		case indexed && !indexes.Contains(failure.Index):
		case chosen.has(&failure):
			chosen.failures = append(chosen.failures, failure)
		default:
			others = append(others, failure)
		}
	}
	if by.Cause != "" && len(chosen.failures) == 0 {
		return nil, chosen.explainNone(others)
	}
	return chosen, nil
}

// Indexes returns the selected indexes; nil for all that are missing, or of a NonIndexed Job.
func (c *Chosen) Indexes() *indexset.Set {
	if c.by.Cause == "" || !jobspec.IsIndexed(&c.candidate.Job.Spec) {
		return nil
	}
	var indexes []int32
	for i := range c.failures {
		indexes = append(indexes, c.failures[i].Index)
	}
	set := indexset.Of(indexes...)
	return &set
}

// RanOut reports whether one of the failures shows that memory ran out.
func (c *Chosen) RanOut() bool {
	return slices.ContainsFunc(c.failures, func(f analysis.LastFailure) bool { return len(f.OutOfMemory) > 0 })
}

// Raise raises the memory of the containers that ran out of it in the Job. It returns an error if no pod can have so much.
func (c *Chosen) Raise(ctx context.Context, job *unstructured.Unstructured, by *retry.MemoryRaise) (*Raised, error) {
	raised, err := c.RaiseUnchecked(job, by)
	if err != nil {
		return nil, err
	}
	return raised, c.client.CheckRoom(ctx, job)
}

// RaiseUnchecked is Raise without requests.
func (c *Chosen) RaiseUnchecked(job *unstructured.Unstructured, by *retry.MemoryRaise) (*Raised, error) {
	var killed []retry.OutOfMemory
	for i := range c.failures {
		uses := c.failures[i].OutOfMemory
		if p := c.failures[i].Probably; p != nil && c.by.Probable {
			uses = append(slices.Clone(uses), *p)
		}
		for _, use := range uses {
			if c.by.Container == "" || c.by.Container == use.Container {
				killed = append(killed, retry.OutOfMemory{Container: use.Container, Limit: use.Limit.Value, AllOfPod: use.Limit.From == input.LimitOfAllOfPod})
			}
		}
	}
	if len(killed) == 0 {
		return nil, c.explainNoEvidence()
	}
	raised, err := retry.RaiseMemory(job, c.candidate.Family, killed, by)
	if refused, is := errors.AsType[*retry.MemoryError](err); is {
		return nil, explainMemory(refused, by)
	}
	if err != nil {
		return nil, err
	}
	typed, err := cmdutil.ToJob(job)
	if err != nil {
		return nil, err
	}
	return &Raised{by, raised, retry.OwnLimits(&typed.Spec.Template.Spec, raised)}, nil
}

// has reports whether the failure has the cause.
func (c *Chosen) has(f *analysis.LastFailure) bool {
	name := c.by.Cause
	isNamed := func(known string) bool { return strings.EqualFold(known, name) }
	if name == "" || slices.ContainsFunc(causeNames(f), isNamed) {
		return true
	}
	return c.by.Probable && f.Probably != nil && strings.EqualFold(name, cause.OOMKilled)
}

// causeNames returns the names of the cause of a failure, the one to offer first.
func causeNames(f *analysis.LastFailure) []string {
	names := words.CauseNames(f.Cause)
	if len(f.OutOfMemory) > 0 {
		names = append([]string{cause.OOMKilled}, names...)
	}
	return names
}

// CompleteCauses completes the causes of the last failures of the named Job.
func CompleteCauses(flags *cmdutil.KubeFlags, env cmdutil.Env) cobra.CompletionFunc {
	return cmdutil.CompleteCauses(flags, env, func(in input.Input) []string { return causesOf(analysis.LastFailures(in)) })
}

// causesOf returns the names of the causes, the most frequent first.
func causesOf(failures []analysis.LastFailure) []string {
	counts := map[string]int{}
	var names []string
	for i := range failures {
		name := causeNames(&failures[i])[0]
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	return names
}

// unreadPods explains that the causes are unknown because the pods could not be read.
func unreadPods(gaps []input.Gap) error {
	what, hint := "pods could not be read, so it is not known why they failed", ""
	for _, gap := range gaps {
		if gap.What == "pods" {
			what = gap.Text
			if gap.Command != "" {
				hint = "check it with: " + gap.Command
			}
		}
	}
	return cmdutil.NewUserError(cmdutil.KindForbidden, nil, what, hint)
}

// explainNone explains that nothing that is missing failed last for the cause.
func (c *Chosen) explainNone(others []analysis.LastFailure) error {
	what, hint := fmt.Sprintf("--cause: nothing that is missing failed last with %q", c.by.Cause), ""
	switch names := causesOf(others); {
	case len(names) == 0:
		what += ": no pod is left that shows why it failed"
		hint = "choose what to run with --indexes"
	default:
		for i, name := range names {
			names[i] = fmt.Sprintf("%q", name)
		}
		hint = "the causes are " + wording.Enumerate(names, "and")
		if slices.ContainsFunc(others, func(f analysis.LastFailure) bool { return f.Probably != nil }) {
			hint += "; a log says that memory ran out: --include-probable"
		}
	}
	return cmdutil.NewUserError(cmdutil.KindNotFound, nil, what, hint)
}

// explainNoEvidence explains that no container is known to have run out of memory.
func (c *Chosen) explainNoEvidence() error {
	what, hint := "--memory: nothing shows that a container ran out of memory", "set its memory with --limits memory=QUANTITY"
	probable := func(f analysis.LastFailure) bool { return f.Probably != nil }
	switch {
	case c.by.Container != "":
		what = "--memory: nothing shows that container " + c.by.Container + " ran out of memory"
	case slices.ContainsFunc(c.failures, probable):
		what, hint = "--memory: a message or a log says that memory ran out, but no container was OOMKilled", "if that suffices: --include-probable"
	case slices.ContainsFunc(c.failures, func(f analysis.LastFailure) bool { return f.Cause.ExitCode != nil && *f.Cause.ExitCode == 137 }):
		what += ": exit code 137 also has other reasons"
	}
	return cmdutil.NewUserError(cmdutil.KindOther, nil, what, hint)
}

// explainMemory explains why memory is not raised.
func explainMemory(refused *retry.MemoryError, by *retry.MemoryRaise) error {
	who := ownerText(refused.Container)
	var what, hint string
	switch refused.Kind {
	case retry.MemoryAtCap:
		what = fmt.Sprintf("%s had %s of memory, and the cap is %s", who, refused.Limit.String(), capText(&refused.Cap, by))
		hint = "set a higher cap, such as max=" + twice(refused.Limit) + ", or make the program use less"
	case retry.MemoryNoLimit:
		what = who + " had no memory limit, so its node ran out of memory"
		hint = "set a limit and a request with --limits and --requests"
	case retry.MemoryNotOfJob:
		what = who + " is not in the Job's template, so a retry cannot raise its memory"
		hint = "raise it where the container is added, or choose another with --container"
	}
	return cmdutil.NewUserError(cmdutil.KindOther, refused, what, hint)
}
