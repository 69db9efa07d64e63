package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// plainPause is the minimum time between two lines of a Job that differ only in numbers.
const plainPause = time.Second

// plainView prints a line for each change of a Source: words only, for logs and screen readers.
type plainView struct {
	out, errOut io.Writer
	now         func() time.Time
	namespaces  bool
	// job is the Job whose problems and causes are printed, too; zero for none.
	job types.NamespacedName

	jobs    map[string]*printedJob // by UID
	printed map[string]bool        // what was printed about job
	of      string                 // namespace, name and UID of job
	lost    snapshot.Link          // as printed; zero while connected
	listed  *snapshot.Jobs
	report  *explain.Report
	noted   bool // the notice that stalls may be missing was printed
}

// printedJob is the last line printed for a Job.
type printedJob struct {
	key          types.NamespacedName
	line, status string
	at           time.Time
}

// follow prints until the Source ends or done returns true.
func (v *plainView) follow(ctx context.Context, source snapshot.Source, done func(*snapshot.Snapshot) bool) error {
	v.jobs, v.printed = map[string]*printedJob{}, map[string]bool{}
	source.Look(snapshot.Focus{Job: v.job})
	var last *snapshot.Snapshot
	for seen := uint64(0); ; seen = last.Seq {
		s, err := source.Next(ctx, seen)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err == nil {
			last = s
			v.show(s)
		}
		if err != nil || done(s) {
			break
		}
	}
	if last != nil && last.Jobs != nil {
		v.changes(last, true) // plainPause may have held some back.
	}
	return nil
}

func (v *plainView) show(s *snapshot.Snapshot) {
	v.link(s)
	if s.Jobs != nil {
		v.list(s)
	}
	if s.Job != nil && s.Job.Report != nil && s.Job.Report != v.report {
		v.report = s.Job.Report
		v.details(s.Time, s.Job.Report)
	}
}

// link reports on stderr when the connection fails, and when it is restored.
func (v *plainView) link(s *snapshot.Snapshot) {
	if line := cmdutil.LinkLine(v.lost, s.Link, s.Time); line != "" {
		fmt.Fprintf(v.errOut, "%s  %s\n", v.clock(s.Time), line)
		v.lost = s.Link
	}
}

// list prints each Job that is gone or has changed.
func (v *plainView) list(s *snapshot.Snapshot) {
	if len(s.Jobs.Items) == 0 && v.listed == nil {
		fmt.Fprintf(v.errOut, "%s  No jobs found yet.\n", v.clock(s.Time))
	}
	if s.Jobs != v.listed {
		v.listed = s.Jobs
		cmdutil.NoteStalls(v.errOut, s.Jobs.Gaps, &v.noted)
		gone := maps.Clone(v.jobs)
		for i := range s.Jobs.Items {
			delete(gone, s.Jobs.Items[i].UID)
		}
		byKey := func(a, b string) int { return feed.CompareKeys(gone[a].key, gone[b].key) }
		for _, uid := range slices.SortedFunc(maps.Keys(gone), byKey) {
			v.print(s.Time, gone[uid].key, jobprinter.StatusDeleted+", was "+gone[uid].line)
			delete(v.jobs, uid)
		}
	}
	v.changes(s, false)
}

// changes prints the Jobs whose lines have changed; unless its status has changed or all is set, each at most once per
// plainPause.
func (v *plainView) changes(s *snapshot.Snapshot, all bool) {
	for i := range s.Jobs.Items {
		o := &s.Jobs.Items[i]
		next := printedJob{key: feed.KeyOfOutline(o), line: section.JobLine(o), status: section.RowStatus(o), at: s.Time}
		last := v.jobs[o.UID]
		if last == nil || next.line != last.line && (all || next.status != last.status || next.at.Sub(last.at) >= plainPause) {
			v.jobs[o.UID] = &next
			v.print(s.Time, next.key, next.line)
		}
	}
}

func (v *plainView) print(at time.Time, key types.NamespacedName, line string) {
	name := key.Name
	if v.namespaces {
		name = key.Namespace + "/" + name
	}
	fmt.Fprintf(v.out, "%s  %s  %s\n", v.clock(at), sanitize.Line(name), sanitize.Line(line))
}

func (v *plainView) clock(at time.Time) string {
	return at.In(v.now().Location()).Format("15:04:05")
}

// details prints facts about the one Job that its line does not show: problems, causes of failures, conditions, each
// once.
func (v *plainView) details(at time.Time, r *explain.Report) {
	key := types.NamespacedName{Namespace: r.Job.Namespace, Name: r.Job.Name}
	if of := r.Job.Namespace + "/" + r.Job.Name + "/" + r.Job.UID; of != v.of {
		v.of, v.printed = of, map[string]bool{}
	}
	for _, p := range r.Problems {
		v.once(at, key, string(p.Kind), "problem: "+p.Text)
	}
	for i := range r.Causes {
		if r.Causes[i].Stopped != "" || r.Causes[i].Consequence {
			continue // The Job itself stopped these pods, so they did not cause its state.
		}
		line := "cause: " + wording.Join("; ", r.Causes[i].Text, section.CauseRule(&r.Causes[i]))
		v.once(at, key, line, line)
	}
	for _, c := range r.Conditions {
		if c.Status == "True" {
			v.once(at, key, "condition "+c.Type, fmt.Sprintf("condition %s: %s: %s", c.Type, jobprinter.OrNone(c.Reason), jobprinter.OrNone(c.Message)))
		}
	}
	if r.Verdict.Outcome.IsFinished() {
		v.once(at, key, "verdict", r.Verdict.Sentence)
	}
}

// once prints a line unless one with the same key, what, was printed before. The text is not the key, as it may
// contain numbers that change.
func (v *plainView) once(at time.Time, key types.NamespacedName, what, line string) {
	if !v.printed[what] {
		v.printed[what] = true
		v.print(at, key, line)
	}
}
