// Package suite runs conformance cases: it creates their Jobs, runs their pods, records every stored version of both,
// and collects the findings of the cases.
//
// A case waits for changes in the record, never for time to pass. A change that it makes is in the record before the
// next step.
package suite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/pods"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history/follow"
)

// Config configures a run.
type Config struct {
	Client kubernetes.Interface
	// Namespace is the existing namespace in which Jobs are created.
	Namespace string
	// ManagedBy is spec.managedBy of the Jobs, or "" for the built-in controller.
	ManagedBy string
	Kubelet   pods.Kubelet
	// Timeout is the limit for each case, Parallel the number of cases at once.
	Timeout  time.Duration
	Parallel int
}

// Suite runs cases.
type Suite struct {
	Config
	recorder *Recorder
	player   *player
}

// runLabel marks the suite's Jobs, so that cleanUp can delete them.
const runLabel = "conformance.batchjob.dev/run"

// Run runs cases and returns their results. It calls progress after each case. Errors are about the cluster, not about
// the controller.
func Run(ctx context.Context, config Config, cases []Case, progress func(Result)) ([]Result, error) {
	if err := waitForAccount(ctx, config); err != nil {
		return nil, err
	}
	s := &Suite{Config: config, recorder: NewRecorder()}
	s.player = newPlayer(config.Kubelet, s.recorder)
	recording, stop := context.WithCancel(ctx)
	waitForRecord, err := follow.All(recording, config.Client, config.Namespace, s.recorder)
	if err != nil {
		stop()
		return nil, err
	}
	var playing sync.WaitGroup
	playing.Go(func() { s.player.run(recording) })
	results := s.runAll(ctx, cases, progress)
	err = s.cleanUp(ctx)
	stop()
	playing.Wait()
	waitForRecord()
	evidence := s.evidence()
	for _, c := range cases {
		if c.Check != nil {
			r := evidence.check(c)
			progress(r)
			results = append(results, r)
		}
	}
	return Sorted(results), errors.Join(err, ctx.Err())
}

// runAll runs all cases except for history cases.
func (s *Suite) runAll(ctx context.Context, cases []Case, progress func(Result)) (results []Result) {
	var mu sync.Mutex
	var running sync.WaitGroup
	places := make(chan struct{}, s.Parallel)
	for _, c := range cases {
		if c.Run == nil {
			continue
		}
		places <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			defer func() { <-places }()
			r := s.run(ctx, c)
			mu.Lock()
			defer mu.Unlock()
			progress(r)
			results = append(results, r)
		})
	}
	running.Wait()
	return results
}

func (s *Suite) run(ctx context.Context, c Case) Result {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	t := &T{ctx: ctx, Suite: s, name: c.Name}
	began := time.Now()
	t.run(c.Run)
	return t.result(c, time.Since(began))
}

// run calls the case's function and returns when it has ended.
func (t *T) run(f func(*T)) {
	defer func() {
		if r := recover(); r != nil && r != errStop { //nolint:errorlint // It is this very value, or a bug.
			panic(r)
		}
	}()
	f(t)
}

// waitForAccount waits for the service account that pods need.
func waitForAccount(ctx context.Context, config Config) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, config.Timeout, true, func(ctx context.Context) (bool, error) {
		_, err := config.Client.CoreV1().ServiceAccounts(config.Namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the default service account of namespace %s: %w", config.Namespace, err)
	}
	return nil
}

// cleanUp deletes the Jobs, and waits until their pods are gone.
func (s *Suite) cleanUp(ctx context.Context) error {
	s.player.change(func() { clear(s.player.holds) })
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Timeout)
	defer cancel()
	background := metav1.DeletePropagationBackground
	err := s.Client.BatchV1().Jobs(s.Namespace).DeleteCollection(ctx,
		metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{LabelSelector: runLabel})
	if err != nil {
		return fmt.Errorf("deleting the Jobs: %w", err)
	}
	err = s.Client.CoreV1().Pods(s.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: runLabel})
	if err != nil {
		return fmt.Errorf("deleting the pods: %w", err)
	}
	_ = s.recorder.Wait(ctx, func() bool { // The history cases report what remains.
		for _, v := range s.recorder.Pods() {
			if isThere(v) {
				return false
			}
		}
		return true
	})
	return nil
}

// newJob returns a Job with one pod.
func (s *Suite) newJob(name string) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{runLabel: ""}},
		Spec:       batchv1.JobSpec{Template: s.template()},
	}
	if s.ManagedBy != "" {
		job.Spec.ManagedBy = ptr.To(s.ManagedBy)
	}
	return job
}

// template returns the pod template of all Jobs.
func (s *Suite) template() corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{runLabel: ""}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: ptr.To(false),
			Containers: []corev1.Container{{Name: pods.Container}},
		},
	}
	s.Kubelet.Prepare(&template)
	return template
}
