//go:build builtin

package beside

import (
	"context"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// pulse shows that a controller keeps up: it suspends and resumes a Job without pods, and waits until the status says so.
// A controller that reacts to the pulse has reacted to everything before it, apart from what it delays on purpose.
type pulse struct {
	mu   sync.Mutex
	last time.Time
}

// answered returns when the last change was made that the controller has reacted to.
func (p *pulse) answered() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// newPulse creates the Job and starts the pulse, until the context ends.
func newPulse(ctx context.Context, c *cluster, manager, ns, name string) (*pulse, error) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{
		Parallelism: ptr.To(int32(0)),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "image"}},
		}},
	}}
	if manager != builtIn {
		job.Spec.ManagedBy = &manager
	}
	if _, err := c.jobs(ns).Create(ctx, job, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	p := &pulse{}
	go p.run(ctx, c, ns, name)
	return p, nil
}

func (p *pulse) run(ctx context.Context, c *cluster, ns, name string) {
	for suspend := true; ctx.Err() == nil; suspend = !suspend {
		begun := time.Now()
		patch := fmt.Appendf(nil, `{"spec":{"suspend":%v}}`, suspend)
		if _, err := c.jobs(ns).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			continue // The API server may be busy.
		}
		want := corev1.ConditionFalse
		if suspend {
			want = corev1.ConditionTrue
		}
		for ctx.Err() == nil && !c.view.hasCondition(name, batchv1.JobSuspended, want) {
			c.view.next(ctx)
		}
		p.mu.Lock()
		p.last = begun
		p.mu.Unlock()
	}
}
