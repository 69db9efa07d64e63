//go:build builtin

package beside

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// apply carries out a step on both sides.
func (p *pair) apply(ctx context.Context, s step, pods [2][]seenPod) error {
	switch s.action {
	case editJob:
		return p.edit(ctx, s.edit.Change)
	case deleteJob:
		return p.deleteJobs(ctx)
	case recreateJob:
		return p.recreate(ctx)
	case deleteNode:
		return p.deleteNode(ctx)
	case crash:
		return p.c.crash(ctx)
	case setClock:
		p.clock = s.ahead
		return nil
	case handOver:
		return p.c.handOver(ctx, p.story.runner)
	case deleteAndEnd:
		return p.endDeleted(ctx, s, pods)
	case terminatePods:
		return p.oneByOne(ctx, pods, func(pod *corev1.Pod) error { return p.c.terminate(ctx, pod, s.script.TerminateExit, p.now()) })
	}
	s.at = p.now().Time
	for i := range p.sides {
		if err := p.applyToPods(ctx, s, pods[i]); err != nil {
			return err
		}
	}
	return nil
}

// oneByOne carries out a step on one pod after another, and waits in between until both sides have settled: otherwise the
// result depends on how soon a controller reacts.
func (p *pair) oneByOne(ctx context.Context, pods [2][]seenPod, apply func(*corev1.Pod) error) error {
	for i := range pods[0] {
		if i > 0 {
			if err := p.check(ctx); err != nil {
				return err
			}
		}
		for _, side := range pods {
			if err := apply(side[i].Pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// endDeleted deletes a pod, and ends it when both controllers have seen the deletion.
func (p *pair) endDeleted(ctx context.Context, s step, pods [2][]seenPod) error {
	for i := range p.sides {
		if err := p.c.delete(ctx, pods[i][s.pick%len(pods[i])].Pod, nil); err != nil {
			return err
		}
	}
	if err := p.check(ctx); err != nil {
		return err
	}
	for i := range p.sides {
		if err := p.end(ctx, pods[i][s.pick%len(pods[i])].Pod, s.script); err != nil {
			return err
		}
	}
	return nil
}

// applyToPods carries out a step of the kubelet, or of a user who deletes pods, on one side.
func (p *pair) applyToPods(ctx context.Context, s step, pods []seenPod) error {
	one := pods[s.pick%len(pods)].Pod
	switch s.action {
	case startPod:
		return p.c.startPod(ctx, one, s.at)
	case endPod, disruptPod:
		return p.end(ctx, one, s.script)
	case restartPod:
		return p.c.restart(ctx, one, p.now())
	case deletePod:
		return p.c.delete(ctx, one, nil)
	case forceDelete:
		return p.c.delete(ctx, one, ptr.To(int64(0)))
	case evictPod:
		return p.c.evict(ctx, one)
	case orphanPod:
		return p.c.orphan(ctx, one)
	}
	for i, pod := range pods {
		if err := p.applyToAll(ctx, s, i, pod.Pod); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) applyToAll(ctx context.Context, s step, i int, pod *corev1.Pod) error {
	switch s.action {
	case startPods:
		// Of two pods, the one that became ready first stays, so they do not become ready in the same second.
		return p.c.startPod(ctx, pod, s.at.Add(-time.Duration(i)*time.Second))
	case succeedAll:
		return p.end(ctx, pod, model.Script{})
	case failAll:
		return p.end(ctx, pod, model.Script{Exit: 1})
	case endAll:
		return p.end(ctx, pod, p.story.job.Scripts[(s.pick*7+i)%len(p.story.job.Scripts)])
	case cleanPods:
		return p.c.delete(ctx, pod, nil)
	}
	return nil
}

// end ends a pod. With the restartPolicy OnFailure, its containers restart after a failure, unless the node disrupts it.
func (p *pair) end(ctx context.Context, pod *corev1.Pod, s model.Script) error {
	fails := s.Exit != 0 || s.SideExit != 0 || s.SetupExit != 0
	if p.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && fails && s.Condition != corev1.DisruptionTarget {
		if pod.Status.Phase == corev1.PodRunning {
			return p.c.restart(ctx, pod, p.now())
		}
		return nil
	}
	return p.c.endPod(ctx, pod, s, p.now())
}

func (p *pair) deleteJobs(ctx context.Context) error {
	policy := metav1.DeletePropagationBackground
	for _, s := range p.sides {
		err := p.c.jobs(s.namespace).Delete(ctx, s.name, metav1.DeleteOptions{PropagationPolicy: &policy})
		if ignoreGone(err) != nil {
			return err
		}
	}
	p.deleted = true
	return p.until(ctx, "the Jobs are deleted", func() bool {
		return !slices.ContainsFunc(p.sides[:], func(s side) bool {
			job := p.c.view.job(s.name)
			return job != nil && job.DeletionTimestamp == nil
		})
	})
}

// recreate deletes the Jobs, and creates others with the same names and the current spec.
func (p *pair) recreate(ctx context.Context) error {
	for _, s := range p.sides {
		if err := p.c.release(ctx, s); err != nil {
			return err
		}
	}
	if err := p.deleteJobs(ctx); err != nil {
		return err
	}
	err := p.until(ctx, "the Jobs are gone", func() bool {
		return !slices.ContainsFunc(p.sides[:], func(s side) bool { return p.c.view.job(s.name) != nil })
	})
	if err != nil {
		return err
	}
	return p.create(ctx)
}

// deleteNode deletes the pair's node, waits until the pod garbage collector has failed the node's pods, and adds the node
// again, as new pods name it, too.
func (p *pair) deleteNode(ctx context.Context) error {
	lost := map[types.UID]bool{}
	for _, s := range p.sides {
		for _, pod := range p.c.view.podsOf(s.name, func(pod seenPod) bool { return !pod.ended() }) {
			lost[pod.UID] = true
			if err := p.c.lose(ctx, pod.Pod); err != nil {
				return err
			}
		}
	}
	if len(lost) == 0 {
		return nil
	}
	if err := p.c.deleteNode(ctx, p.node); err != nil {
		return err
	}
	err := p.until(ctx, "the pods of the deleted node have failed", func() bool {
		for _, s := range p.sides {
			if len(p.c.view.podsOf(s.name, func(pod seenPod) bool { return lost[pod.UID] && !pod.ended() })) > 0 {
				return false
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	return p.c.addNode(ctx, p.node)
}
