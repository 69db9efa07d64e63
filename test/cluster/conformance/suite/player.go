package suite

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/pods"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// ExitSIGTERM is the exit code of a container that was ended by SIGTERM.
const ExitSIGTERM = 143

// Play returns whether a running pod ends by itself, and its exit code.
type Play func(*corev1.Pod) (code int32, ends bool)

// player starts the pods of all cases, and ends them when they are deleted.
type player struct {
	kubelet  pods.Kubelet
	recorder *Recorder

	mu sync.Mutex
	// plays and holds are keyed by the Job's name. Deleted pods of a held Job keep terminating.
	plays map[string]Play
	holds map[string]bool
	acted map[string]bool
	woken chan struct{}
	// failed maps pods to the error of their latest action, until the action succeeds or is not needed anymore.
	failed map[types.UID]error
}

func newPlayer(kubelet pods.Kubelet, recorder *Recorder) *player {
	return &player{
		kubelet: kubelet, recorder: recorder, woken: make(chan struct{}, 1),
		plays: map[string]Play{}, holds: map[string]bool{}, acted: map[string]bool{}, failed: map[types.UID]error{},
	}
}

// retryEvery is the interval between retries of a failed action.
const retryEvery = 500 * time.Millisecond

func (p *player) run(ctx context.Context) {
	var actions sync.WaitGroup
	defer actions.Wait()
	ticker := time.NewTicker(retryEvery)
	defer ticker.Stop()
	for {
		changed, _ := p.recorder.Changes()
		for _, v := range p.recorder.Pods() {
			if isThere(v) {
				p.step(ctx, &actions, v.Pod)
			} else if v.Pod != nil {
				p.needsNothing(v.Pod)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-p.woken:
		case <-ticker.C:
		}
	}
}

// step starts the next action for a pod, unless it has been started.
func (p *player) step(ctx context.Context, actions *sync.WaitGroup, pod *corev1.Pod) {
	name, act := p.next(ctx, pod)
	if act == nil {
		p.needsNothing(pod)
		return
	}
	key := string(pod.UID) + name
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.acted[key] {
		return
	}
	p.acted[key] = true
	actions.Go(func() { p.try(ctx, pod, key, act) })
}

func (p *player) needsNothing(pod *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.failed, pod.UID)
}

func (p *player) try(ctx context.Context, pod *corev1.Pod, key string, act func() error) {
	err := act()
	p.mu.Lock()
	defer p.mu.Unlock()
	// A pod that is gone or replaced needs no action.
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
		delete(p.failed, pod.UID)
		return
	}
	p.acted[key] = false
	p.failed[pod.UID] = fmt.Errorf("running pod %s: %w", pod.Name, err)
}

// next returns the action that a pod needs, with a name, or nil.
func (p *player) next(ctx context.Context, pod *corev1.Pod) (name string, act func() error) {
	p.mu.Lock()
	play, held := p.plays[ownerOf(pod)], p.holds[ownerOf(pod)]
	p.mu.Unlock()
	isDeleted := pod.DeletionTimestamp != nil
	switch {
	case history.HasEnded(pod) && isDeleted:
		return "stopped", func() error { return p.kubelet.Stopped(ctx, pod) }
	case history.HasEnded(pod), isDeleted && held:
		return "", nil
	case isDeleted:
		return "term", func() error { return p.kubelet.End(ctx, pod, ExitSIGTERM) }
	case pod.Status.Phase == corev1.PodPending:
		return "start", func() error { return p.kubelet.Start(ctx, pod) }
	case play != nil:
		if code, ends := play(pod); ends {
			return "end", func() error { return p.kubelet.End(ctx, pod, code) }
		}
	}
	return "", nil
}

func (p *player) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// problems returns the errors of the failing actions, sorted.
func (p *player) problems() (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, err := range p.failed {
		list = append(list, err.Error())
	}
	slices.Sort(list)
	return list
}

// ownerOf returns the name of the pod's controller owner.
func ownerOf(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return owner.Name
	}
	return ""
}
