package cli

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	shown *snapshot.Job // nil until a report was made
	of    *liveFacts    // what shown was made of
	clock bool          // time changes shown
}

func newLiveJob(s *liveSource, key snapshot.JobKey) *liveJob { return &liveJob{source: s, key: key} }

func (j *liveJob) run(ctx context.Context) error {
	j.ctx = ctx
	defer j.belongings.stop()
	set := jobSet{client: j.source.jobs(j.key.Namespace), names: []string{j.key.Name}}
	link := newLink(&j.source.link, j.source.env)
	defer link.connected()
	loop := watchLoop{target: watchedJobs{set: set, sink: j}, link: link}
	return loop.run(ctx, "")
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
			return err
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
	j.job = job
	j.facts.touch(j.source)
	return another
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
	if j.facts == nil {
		j.shown = &snapshot.Job{Gone: true, Report: j.unseen()}
	} else {
		j.facts.touch(j.source)
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
