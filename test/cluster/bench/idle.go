//go:build unix

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// idle is the resource usage of the controllers in one phase, while ours has no Jobs.
type idle struct {
	Phase   string
	Pods    int // pods of other controllers
	Seconds float64
	CPU     map[string]float64
	Peak    map[string]int64
}

// The phases: no pods at all; pods like a Deployment's while they are created, and then while they run; and one phase
// for each Job that the built-in controller runs. A Deployment's pods have restartPolicy Always, which a Job's pods
// cannot have. The Jobs come last, as the memory of a process stays large for a while after a peak.
const (
	idleAlone    = "alone"
	idleArriving = "arriving"
	idleRunning  = "running"
	idleJob      = "job"
	// idleSettle is the time allowed for the start of our controller.
	idleSettle = 10 * time.Second
	idlePoll   = time.Second
	// idlePods is a label of the pods that are like a Deployment's.
	idlePods = "bench-idle"
)

// idle measures idle controllers, without other pods and beside both kinds of them. It starts a new process of our
// controller, whose memory no other part has increased.
func (b *bench) idle(ctx context.Context) (list []idle, err error) {
	if b.processes[procOurs] == 0 {
		return nil, nil
	}
	if err := b.warmUp(ctx, b.idleJobPods); err != nil {
		return nil, err
	}
	if err := b.restarted(ctx); err != nil {
		return nil, err
	}
	add := func(phase idle) {
		progress("Idle, %s, %d pods of others: %.1f s, ours %.2f s of CPU, at most %.0f MB", phase.Phase, phase.Pods, phase.Seconds, phase.CPU[procOurs], mega(phase.Peak[procOurs]))
		list = append(list, phase)
	}
	measure := func(phase string, pods int, do func() error) error {
		begun := time.Now()
		used, err := b.processes.during(do)
		if err == nil {
			add(idle{phase, pods, time.Since(begun).Seconds(), used.cpu, used.peak})
		}
		return err
	}

	if err := measure(idleAlone, 0, func() error { return sleep(ctx, b.idleTime) }); err != nil {
		return list, err
	}
	if err := measure(idleArriving, b.idlePods, func() error { return b.api.createRunning(ctx, b.idlePods) }); err != nil {
		return list, err
	}
	if err := measure(idleRunning, b.idlePods, func() error { return sleep(ctx, b.idleTime) }); err != nil {
		return list, err
	}
	if err := b.api.removePods(ctx, metav1.ListOptions{LabelSelector: idlePods}); err != nil {
		return list, err
	}
	// The Job's phase ends when it is Complete; the deletion of its pods is not measured.
	for range b.idleJobs {
		job, err := b.bulk(ctx, builtIn, b.idleJobPods)
		if err != nil {
			return list, err
		}
		add(idle{idleJob, b.idleJobPods, job.Seconds, job.CPU, job.Peak})
	}
	return list, nil
}

// createRunning creates pods that run until they are deleted.
func (a api) createRunning(ctx context.Context, n int) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(32)
	for i := range n {
		work.Go(func() error {
			spec := newJob(builtIn, 0, shape{1, false}).Spec.Template.Spec
			spec.RestartPolicy = corev1.RestartPolicyAlways
			_, err := a.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", idlePods, i), Labels: map[string]string{idlePods: ""}},
				Spec:       spec,
			}, metav1.CreateOptions{})
			return err
		})
	}
	return work.Wait()
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// The targets for the CPU time per pod of another controller's Job, and for the memory of an idle controller.
const (
	mostIdleMSPerPod = 0.1
	mostIdleMB       = 40
)

// addIdle adds the CPU and memory of both controllers: CPU as a share of a core while pods exist, and per pod of a Job.
// kube-controller-manager runs these Jobs, so only our controller is idle then.
func (r *report) addIdle(all []idle) {
	// The phases of all Jobs are combined: CPU is summed, memory is the maximum.
	jobs := idle{Phase: idleJob, CPU: map[string]float64{}, Peak: map[string]int64{}}
	var alone *idle
	for i, phase := range all {
		memory := func(process string) *float64 { v := mega(phase.Peak[process]); return &v }
		share := func(process string) *float64 { v := 100 * phase.CPU[process] / phase.Seconds; return &v }
		what := fmt.Sprintf("idle beside %d pods of others, %s: ", phase.Pods, phase.Phase)
		switch phase.Phase {
		case idleJob:
			jobs.Pods += phase.Pods
			for _, process := range []string{procOurs, procManager} {
				jobs.CPU[process] += phase.CPU[process]
				jobs.Peak[process] = max(jobs.Peak[process], phase.Peak[process])
			}
			continue
		case idleAlone:
			alone, what = &all[i], "idle without pods of others: "
		}
		r.add("IDL-01", what+"CPU, % of a core", 2, share(procOurs), share(procManager), &target{Limit: 1})
		r.add("IDL-01", what+"peak memory, MB", 0, memory(procOurs), memory(procManager), &target{Limit: mostIdleMB})
	}
	if jobs.Pods == 0 {
		return
	}

	what := fmt.Sprintf("idle beside Jobs of others, %d pods: ", jobs.Pods)
	perPod := func(process string) *float64 { v := 1000 * jobs.CPU[process] / float64(jobs.Pods); return &v }
	memory := func(process string) *float64 { v := mega(jobs.Peak[process]); return &v }
	r.add("IDL-01", what+"CPU, ms per pod", 3, perPod(procOurs), perPod(procManager), &target{Limit: mostIdleMSPerPod})
	r.add("IDL-01", what+"peak memory, MB", 0, memory(procOurs), memory(procManager), nil)
	if alone != nil {
		more := func(process string) *float64 { v := mega(jobs.Peak[process] - alone.Peak[process]); return &v }
		r.add("", what+"peak memory beyond that without pods, MB", 1, more(procOurs), more(procManager), nil)
	}
	r.note("The Jobs of others are run by the built-in controller, one after the other: its figures are those of work, ours of watching.")
}

// restarted restarts our controller, and waits until it serves its metrics and has started.
func (b *bench) restarted(ctx context.Context) error {
	if err := b.launched.controller.stop(); err != nil {
		return err
	}
	if err := b.launched.startController(); err != nil {
		return err
	}
	b.processes[procOurs] = b.launched.controller.pid()
	deadline := time.Now().Add(b.timeout)
	for {
		_, err := readSyncs(ctx, b.launched.metrics)
		if err == nil {
			return sleep(ctx, idleSettle)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waiting for our controller: %w", err)
		}
		if err := sleep(ctx, idlePoll); err != nil {
			return err
		}
	}
}

func mega(bytes int64) float64 { return float64(bytes) / 1e6 }
