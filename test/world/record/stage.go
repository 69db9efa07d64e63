package main

import (
	"context"
	"fmt"
	"regexp"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	controllerpkg "github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// patience is the time limit of a scenario.
const patience = 4 * time.Minute

// scenario is a situation of a Job.
type scenario struct {
	name string
	// what describes the situation, and how to recognize it.
	what string
	// builtin: also recorded with the built-in controller.
	builtin bool
	// played: the recorder is the scheduler and kubelet of its pods.
	played bool
	// play makes it happen. The last state that it waits for is recorded.
	play func(*stage) error
}

// take is a scenario with one of the two controllers.
type take struct {
	scenario
	isBuiltin bool
}

func (t take) file() string {
	if t.isBuiltin {
		return t.name + ".builtin.yaml"
	}
	return t.name + ".yaml"
}

func takesOf(all []scenario, filter *regexp.Regexp) (takes []take) {
	for _, s := range all {
		both := []take{{s, false}}
		if s.builtin {
			both = append(both, take{s, true})
		}
		for _, t := range both {
			if filter.MatchString(t.file()) {
				takes = append(takes, t)
			}
		}
	}
	return takes
}

// stage is the namespace in which a scenario is played.
type stage struct {
	*cluster
	take
	// ctx ends with the scenario's time: a stage lives only during one call of play.
	ctx context.Context
	ns  string
	// managedBy is spec.managedBy of the Jobs, unless the built-in controller runs them.
	managedBy string
	// seen is the last state that was read.
	seen *view
}

func newStage(ctx context.Context, c *cluster, t take) (*stage, error) {
	s := &stage{cluster: c, take: t, ctx: ctx, ns: t.name, managedBy: controllerpkg.DefaultManagedBy}
	if t.isBuiltin {
		s.ns += "-builtin"
	}
	return s, c.addNamespace(ctx, s.ns, t.played)
}

// create creates a Job for the controller of this take.
func (s *stage) create(job *batchv1.Job) error {
	s.own(&job.Spec)
	_, err := s.client.BatchV1().Jobs(s.ns).Create(s.ctx, job, metav1.CreateOptions{FieldManager: "kubectl-create"})
	return err
}

func (s *stage) own(spec *batchv1.JobSpec) {
	if !s.isBuiltin {
		spec.ManagedBy = ptr.To(s.managedBy)
	}
}

// until waits for a state of the namespace and stores it in seen.
func (s *stage) until(what string, holds func(*view) bool) error {
	err := wait.PollUntilContextCancel(s.ctx, 700*time.Millisecond, true, func(ctx context.Context) (done bool, err error) {
		if s.seen, err = s.look(ctx); err != nil {
			return false, err
		}
		return holds(s.seen), nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s: %w; last seen: %s", what, err, s.seen)
	}
	return nil
}

// run creates the Job and waits for a state.
func (s *stage) run(job *batchv1.Job, what string, holds func(*view) bool) error {
	if err := s.create(job); err != nil {
		return err
	}
	return s.until(what, holds)
}

// runs returns the play of a scenario that only needs a Job.
func runs(job func(*stage) *batchv1.Job, holds func(*view) bool) func(*stage) error {
	return func(s *stage) error { return s.run(job(s), "what is to be recorded", holds) }
}

func (s *stage) patchJob(manager, patch string) error {
	_, err := s.client.BatchV1().Jobs(s.ns).Patch(s.ctx, s.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager})
	return err
}

// deletePod deletes a pod, as a user does.
func (s *stage) deletePod(name string, grace *int64) error {
	return s.client.CoreV1().Pods(s.ns).Delete(s.ctx, name, metav1.DeleteOptions{GracePeriodSeconds: grace})
}
