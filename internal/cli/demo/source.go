package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim/simevents"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// pace is the time between Snapshots, and schedulingTime how long a pod may have no node.
const (
	pace           = 250 * time.Millisecond
	schedulingTime = 3 * time.Second
)

const (
	// maxLines is the maximum number of lines of a log, and tails the number of logs in the evidence, with tailLines
	// each.
	maxLines  = 500
	tails     = 2
	tailLines = 5
	// stopped is the exit code of containers that are stopped, also by a preemption.
	stopped = 143
	// failedLines is how many lines of each failed pod are read together.
	failedLines = 50
)

// Source is a simulated cluster that follows a clock. It implements snapshot.Source.
type Source struct {
	now   func() time.Time
	pause func(context.Context, time.Duration) error

	mu      sync.Mutex
	world   *sim.World
	begun   time.Time
	jobs    []string
	scripts map[string]script
	events  *simevents.Recorder
	// started has the start time of each pod's containers.
	started map[types.UID]time.Time
	focus   snapshot.Focus
	seq     uint64
}

// NewSource returns a Source whose Jobs were created ago before now. That time is simulated before the first
// Snapshot.
func NewSource(now func() time.Time, pause func(context.Context, time.Duration) error, ago time.Duration) (*Source, error) {
	s := &Source{now: now, pause: pause, begun: now().Add(-ago), scripts: scripts(), started: map[types.UID]time.Time{}}
	s.events = simevents.New(func() time.Time { return s.world.Now() })
	s.world = sim.NewWorld(sim.Options{Seed: 1, Begun: s.begun, OnCommit: s.committed, Controller: controller.Config{Recorder: s.events}})
	all, err := jobs()
	if err != nil {
		return nil, err
	}
	for _, job := range all {
		if err := s.world.Play(job, s.scripts[job.Name].behavior); err != nil {
			return nil, err
		}
		s.jobs = append(s.jobs, job.Name)
	}
	slices.Sort(s.jobs)
	return s, nil
}

// committed records when containers start, as the simulated kubelet does not.
func (s *Source) committed(c sim.Commit) {
	if pod := c.NewPod; pod != nil && pod.Status.Phase == corev1.PodRunning && s.started[pod.UID].IsZero() {
		s.started[pod.UID] = s.world.Now()
	}
}

// Look implements snapshot.Source.
func (s *Source) Look(focus snapshot.Focus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.focus = focus
}

// Next implements snapshot.Source.
func (s *Source) Next(ctx context.Context, seen uint64) (*snapshot.Snapshot, error) {
	s.mu.Lock()
	pausing := s.seq > 0 && s.seq <= seen
	s.mu.Unlock()
	if pausing {
		if err := s.pause(ctx, pace); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(s.now())
	s.seq++
	return s.snapshot(), nil
}

// advance advances the time in the simulated cluster, in which a node is drained at evictedAfter.
func (s *Source) advance(to time.Time) {
	if eviction := s.begun.Add(evictedAfter); s.world.Now().Before(eviction) && to.After(eviction) {
		s.advance(eviction)
		pods := s.world.Store.PodsOf(s.world.Store.Job(evictedJob).UID)
		_ = s.world.Store.EvictPod(pods[1].Name) // The pod exists.
	}
	s.world.RunUntil(func() bool { return false }, to.Sub(s.world.Now()))
}

func (s *Source) snapshot() *snapshot.Snapshot {
	shown := &snapshot.Snapshot{Seq: s.seq, Time: s.world.Now(), Focus: s.focus, Jobs: &snapshot.Jobs{}}
	for _, name := range s.jobs {
		job := s.world.Store.Job(name)
		outline := analysis.OutlineOf(job, nil, s.world.Now())
		if analysis.MayStall(job) {
			outline.Stalled = analysis.StallOf(s.listInput(job, false))
		}
		if analysis.HasFailures(job) {
			outline.Why = analysis.WhyOf(s.listInput(job, true))
		}
		shown.Jobs.Items = append(shown.Jobs.Items, outline)
		if s.focus.Job.Name == name {
			s.addFocus(shown, job)
		}
	}
	if s.focus.Job.Name != "" && shown.Job == nil { // A retry has replaced it.
		report := &explain.Report{Job: explain.Job{Namespace: s.focus.Job.Namespace, Name: s.focus.Job.Name}}
		report.Verdict.Sentence = "The Job was replaced by its retry."
		shown.Job = &snapshot.Job{Report: report, Gone: true}
	}
	return shown
}

// addFocus adds the Job in focus, and its pod and log.
func (s *Source) addFocus(shown *snapshot.Snapshot, job *batchv1.Job) {
	pods := s.pods(job)
	given := s.given(job, pods)
	for _, member := range s.family(job) {
		if member.UID != job.UID {
			given.Relatives = append(given.Relatives, input.Input{Job: member, PodsRead: true, Pods: inputsOf(s.pods(member))})
		}
	}
	given.RelativesRead = true
	report := s.explain(given, explain.Options{MaxPods: -1})
	shown.Job = &snapshot.Job{Report: &report}
	if target := s.focus.Log; target != nil && target.Failed {
		shown.Log = s.failedLogs(job, pods)
		return
	}
	i := slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == s.focus.Pod })
	if i < 0 {
		return
	}
	detail := explain.PodDetailOf(pods[i], s.eventsOf(job.Name))
	shown.Pod = &detail
	if target := s.focus.Log; target != nil {
		shown.Log = &snapshot.Log{
			Target: *target, Container: pods[i].Spec.Containers[0].Name, Lines: s.log(job.Name, pods[i]),
			Ended: pods[i].Status.Phase != corev1.PodRunning,
		}
	}
}

// input returns the input of an explanation.
func (s *Source) given(job *batchv1.Job, pods []*corev1.Pod) input.Input {
	given := input.Input{
		Now: s.world.Now(), OurName: controller.DefaultManagedBy, Job: job, PodsRead: true, EventsRead: true,
		Events: s.eventsOf(job.Name),
		Lease:  &input.Lease{Holder: "the simulation", Renewed: s.world.Now(), Duration: time.Minute},
	}
	given.Pods = inputsOf(pods)
	for _, target := range analysis.LogTargets(given, explain.Options{}, tails) {
		i := slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == target.Pod })
		given.Logs = append(given.Logs, s.tail(job.Name, pods[i]))
	}
	return given
}

func inputsOf(pods []*corev1.Pod) (inputs []*input.Pod) {
	for _, pod := range pods {
		inputs = append(inputs, input.PodOf(pod))
	}
	return inputs
}

// eventsOf returns the controller's events about a Job.
func (s *Source) eventsOf(job string) []input.Event {
	kept := s.events.Of(job)
	events := make([]input.Event, len(kept))
	for i := range kept {
		events[i] = input.EventOf(&kept[i])
	}
	return events
}

// listInput returns the input that a list has for a Job: its pods that have not ended, and for a Job with failures also its
// failed pods and its events.
func (s *Source) listInput(job *batchv1.Job, failures bool) input.Input {
	given := input.Input{Listed: true, Now: s.world.Now(), Job: job, PodsRead: failures}
	if failures {
		given.Events = s.eventsOf(job.Name)
	}
	for _, pod := range s.world.Store.PodsOf(job.UID) {
		switch p := pod.Status.Phase; {
		case p == corev1.PodPending, p == corev1.PodRunning && pod.DeletionTimestamp == nil:
			copied := pod.DeepCopy()
			s.addNodeFields(copied)
			given.Pods = append(given.Pods, input.PodOf(copied))
		case failures && p == corev1.PodFailed:
			given.Pods = append(given.Pods, input.PodOf(pod))
		}
	}
	return given
}

// pods returns copies of the Job's pods, with the fields that only real nodes report.
func (s *Source) pods(job *batchv1.Job) []*corev1.Pod {
	pods := s.world.Store.PodsOf(job.UID)
	for i, pod := range pods {
		pods[i] = pod.DeepCopy()
		s.addNodeFields(pods[i])
	}
	return pods
}

// addNodeFields adds the start times of its containers to a pod, or the reason why it fits no node.
func (s *Source) addNodeFields(pod *corev1.Pod) {
	started := metav1.NewTime(s.started[pod.UID])
	switch {
	case s.world.Now().Sub(pod.CreationTimestamp.Time) > schedulingTime && pod.Spec.NodeName == "":
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/12 nodes are available: 12 Insufficient nvidia.com/gpu.", LastTransitionTime: pod.CreationTimestamp,
		})
	case pod.Status.Phase == corev1.PodRunning:
		for i := range pod.Spec.Containers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: pod.Spec.Containers[i].Name, Ready: true,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
			})
		}
	}
	for i := range pod.Status.ContainerStatuses {
		if ended := pod.Status.ContainerStatuses[i].State.Terminated; ended != nil && ended.StartedAt.IsZero() {
			ended.StartedAt = started
		}
	}
}

// runToEnd advances virtual time by limit without waiting, and explains all Jobs.
func (s *Source) runToEnd(limit time.Duration) (reports []explain.Report) {
	s.advance(s.world.Now().Add(limit))
	for _, name := range s.jobs {
		job := s.world.Store.Job(name)
		reports = append(reports, s.explain(s.given(job, s.pods(job)), explain.Options{}))
	}
	return reports
}

// explain returns a report without commands, and without advice that consists of one: the Jobs are in no cluster.
func (s *Source) explain(in input.Input, o explain.Options) explain.Report {
	report := analysis.Explain(in, o)
	report.Advice = slices.DeleteFunc(report.Advice, func(a explain.Advice) bool {
		return a.Kind == explain.AdviceLogs || a.Kind == explain.AdviceRerun
	})
	for i := range report.Advice {
		report.Advice[i].Command = ""
	}
	for i := range report.Causes {
		report.Causes[i].Command = ""
	}
	return report
}

// log returns the last lines of the pod's container: one for each second, and why it failed.
func (s *Source) log(job string, pod *corev1.Pod) (lines []snapshot.LogLine) {
	started := s.started[pod.UID]
	if started.IsZero() {
		return nil
	}
	index, until, failed := max(observe.CompletionIndex(pod), 0), s.world.Now(), false
	for _, status := range pod.Status.ContainerStatuses {
		if ended := status.State.Terminated; ended != nil {
			until, failed = ended.FinishedAt.Time, ended.ExitCode != 0 && ended.ExitCode != stopped && pod.DeletionTimestamp == nil
		}
	}
	last := int(until.Sub(started) / time.Second)
	for n := max(last-maxLines, 0); n <= last; n++ {
		lines = append(lines, snapshot.LogLine{Time: started.Add(time.Duration(n) * time.Second), Text: s.scripts[job].line(index, n)})
	}
	if failed {
		for _, text := range s.scripts[job].failure {
			lines = append(lines, snapshot.LogLine{Time: until, Text: text})
		}
	}
	return lines
}

// failedLogs returns the last lines of the pods that failed, the latest first.
func (s *Source) failedLogs(job *batchv1.Job, pods []*corev1.Pod) *snapshot.Log {
	log := &snapshot.Log{Target: *s.focus.Log, Ended: true}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodFailed || pod.DeletionTimestamp != nil {
			continue
		}
		name := fmt.Sprintf("[%s]", strings.TrimPrefix(pod.Name, job.Name+"-"))
		if index := observe.CompletionIndex(pod); index >= 0 {
			name = fmt.Sprintf("[index %d attempt %d]", index, observe.Attempt(pod))
		}
		lines := s.log(job.Name, pod)
		for _, line := range lines[max(0, len(lines)-failedLines):] {
			line.Pod = name
			log.Lines = append(log.Lines, line)
		}
	}
	return log
}

// tail returns the end of a log, for the evidence.
func (s *Source) tail(job string, pod *corev1.Pod) input.LogTail {
	tail := input.LogTail{Pod: pod.Name, Container: pod.Spec.Containers[0].Name}
	lines := s.log(job, pod)
	for _, line := range lines[max(len(lines)-tailLines, 0):] {
		tail.Lines = append(tail.Lines, line.Text)
	}
	return tail
}
