package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// liveJob is the Job that is open. A watch of its name tells of it; what belongs to it is watched for as long as it is
// the same Job, by UID, and is there.
type liveJob struct {
	source     *liveSource
	key        snapshot.JobKey
	ctx        context.Context // of run, for the tasks that its watch starts
	belongings liveTasks

	// under source.mu
	job   *observe.NamedJob // nil until it was read
	facts *liveFacts        // of job
	gone  bool
	shown *snapshot.Job // nil until there was an answer
	of    *liveFacts    // what shown was made of
	clock bool          // time changes shown

	unwatchedGap *explain.Gap // nil if the Job is watched
	unread       *explain.Gap // nil if job is its latest state
}

func newLiveJob(s *liveSource, key snapshot.JobKey) *liveJob { return &liveJob{source: s, key: key} }

func (j *liveJob) run(ctx context.Context) error {
	j.ctx = ctx
	defer j.belongings.stop()
	set := jobSet{client: j.source.jobs(j.key.Namespace), names: []string{j.key.Name}}
	return j.source.keepUpJobs(ctx, watchedJobs{set: set, sink: j}, "", j.unwatched)
}

// unwatched notes that the Job may not be watched; nil that it is.
func (j *liveJob) unwatched(gap *explain.Gap) {
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	if (gap == nil) == (j.unwatchedGap == nil) {
		return
	}
	j.unwatchedGap = gap
	if j.facts != nil {
		j.facts.touch(j.source)
	}
}

func (j *liveJob) reconcile(jobs []*unstructured.Unstructured) error {
	if len(jobs) == 0 {
		j.lose()
	}
	return j.changed(jobs...)
}

func (j *liveJob) changed(jobs ...*unstructured.Unstructured) error {
	for _, object := range jobs {
		job, err := namedJob(object)
		if err != nil {
			j.misread(object, err)
			continue
		}
		if j.take(job) {
			j.belongings.stop()
			j.belongings.start(j.ctx, j.source.group, j.tasks()...)
		}
	}
	return nil
}

func (j *liveJob) removed(object *unstructured.Unstructured) error {
	if job, err := namedJob(object); err == nil {
		j.source.mu.Lock()
		if j.facts != nil && job.UID == j.job.UID {
			j.job, j.facts.changed = job, true
		}
		j.source.mu.Unlock()
	}
	j.lose()
	return nil
}

// take notes the state of the Job, and says whether it is another one than before.
func (j *liveJob) take(job *observe.NamedJob) (another bool) {
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	another = j.facts == nil || j.gone || j.job.UID != job.UID
	if another {
		j.facts, j.gone = newLiveFacts(), false
	}
	j.job, j.facts.job, j.unread = job, &job.Job, nil
	j.facts.touch(j.source)
	return another
}

// misread notes that the Job is there and makes no sense: what is known of it is told still, with a gap. The next change
// may mend it.
func (j *liveJob) misread(object *unstructured.Unstructured, err error) {
	gap := &explain.Gap{What: "jobs", Text: fmt.Sprintf("the Job could not be read: %v", cmp.Or(errors.Unwrap(err), err))}
	if j.isKnown(object.GetUID()) {
		j.source.mu.Lock()
		defer j.source.mu.Unlock()
		j.unread = gap
		j.facts.touch(j.source)
		return
	}
	j.belongings.stop()
	report := j.unseen()
	report.Job.UID = string(object.GetUID())
	report.Verdict = explain.Verdict{Status: unreadable, Sentence: "The Job makes no sense to this program."}
	report.Gaps = []explain.Gap{*gap}
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	j.job, j.facts, j.of, j.gone = nil, nil, nil, false
	j.shown = &snapshot.Job{Report: report}
	j.source.touch()
}

// isKnown says that the Job of the UID is the one that was read.
func (j *liveJob) isKnown(uid types.UID) bool {
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	return j.facts != nil && !j.gone && j.job.UID == uid
}

// lose notes that the Job is not there. What belonged to it is not watched any more.
func (j *liveJob) lose() {
	j.belongings.stop()
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	if j.gone {
		return
	}
	j.gone = true
	switch {
	case j.facts != nil:
		j.facts.touch(j.source)
	case j.shown == nil:
		j.shown = &snapshot.Job{Gone: true, Report: j.unseen()}
	}
	j.source.touch()
}

// unseen is the report on a Job that was never there.
func (j *liveJob) unseen() *explain.Report {
	return &explain.Report{
		TypeMeta: metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: explain.Kind}, ObservedAt: metav1.NewTime(j.source.env.now()),
		Job:     explain.Job{Namespace: j.key.Namespace, Name: j.key.Name},
		Verdict: explain.Verdict{Sentence: "There is no such Job."},
	}
}

// tasks read what belongs to the Job.
func (j *liveJob) tasks() []func(context.Context) error {
	pods := &livePodWatch{source: j.source, facts: j.facts, job: &j.job.Job}
	surroundings := &liveSurroundings{source: j.source, facts: j.facts, job: &j.job.Job}
	tasks := []func(context.Context) error{
		func(ctx context.Context) error { return j.source.keepUp(ctx, pods) },
		surroundings.run,
	}
	for _, ofPods := range []bool{false, true} {
		events := newLiveEventWatch(j.source, j.facts, &j.job.Job, ofPods)
		tasks = append(tasks, func(ctx context.Context) error { return j.source.keepUp(ctx, events) })
	}
	if j.source.logLines > 0 {
		tails := &liveTails{source: j.source, facts: j.facts, namespace: j.key.Namespace}
		tasks = append(tasks, tails.run)
	}
	return tasks
}

// snapshot is the Job as it was explained last. source.mu is held.
func (j *liveJob) snapshot() *snapshot.Job {
	if j.shown != nil && j.gone && !j.shown.Gone {
		j.shown = &snapshot.Job{Report: j.shown.Report, Gone: true}
	}
	return j.shown
}
