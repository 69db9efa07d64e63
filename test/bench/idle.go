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

// idle is what controllers without work use while other people's pods come and run, and
// afterward.
type idle struct {
	Phase   string             `json:"phase"`
	Seconds float64            `json:"seconds"`
	CPU     map[string]float64 `json:"cpuSeconds"`
	Peak    map[string]int64   `json:"peakBytes"`
}

const (
	idleArriving = "arriving"
	idleRunning  = "running"
	// idlePods marks the pods.
	idlePods = "bench-idle"
)

// idle creates pods that are as those of a Deployment, waits, and deletes them.
func (b *bench) idle(ctx context.Context) (list []idle, err error) {
	if b.processes[procOurs] == 0 {
		return nil, nil
	}
	phases := []struct {
		name string
		do   func() error
	}{
		{idleArriving, func() error { return b.api.createRunning(ctx, b.idlePods) }},
		{idleRunning, func() error { return sleep(ctx, b.idleTime) }},
	}
	for _, phase := range phases {
		b.processes.resetPeaks()
		before, err := b.processes.usage()
		if err != nil {
			return nil, err
		}
		begun := time.Now()
		if err := phase.do(); err != nil {
			return nil, err
		}
		took := time.Since(begun).Seconds()
		after, err := b.processes.usage()
		if err != nil {
			return nil, err
		}
		used := after.since(before)
		progress("Idle, %d pods of others %s: %.1f s, ours %.2f s of CPU", b.idlePods, phase.name, took, used.cpu[procOurs])
		list = append(list, idle{phase.name, took, used.cpu, used.peak})
	}
	return list, b.api.removePods(ctx, metav1.ListOptions{LabelSelector: idlePods})
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

// sleep waits, unless ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// addIdle has the CPU, as a share of a core, and the memory of both controllers.
func (r *report) addIdle(all []idle, pods int) {
	for _, phase := range all {
		share := func(process string) *float64 { v := 100 * phase.CPU[process] / phase.Seconds; return &v }
		memory := func(process string) *float64 { v := float64(phase.Peak[process]) / 1e6; return &v }
		what := fmt.Sprintf("idle beside %d pods of others, %s: ", pods, phase.Phase)
		r.add("IDL-01", what+"CPU, % of a core", 2, share(procOurs), share(procManager), &target{Limit: 1})
		r.add("IDL-01", what+"peak memory, MB", 0, memory(procOurs), memory(procManager), &target{Limit: 40})
	}
}
