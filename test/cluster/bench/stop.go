//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// stopShare is n if one nth of a Job's pods exists when it is edited.
	stopShare = 4
	// mostStopMS is how long a Job may keep creating pods.
	mostStopMS = 250
)

// stopped is a large Job that is edited while its pods are created, so that it needs no more of them.
type stopped struct {
	Side side   `json:"side"`
	Pods int    `json:"pods"`
	Edit string `json:"edit"`
	lastCreations
}

// lastCreations describes the creations of pods that were answered after the edit.
type lastCreations struct {
	Count int `json:"createdAfter"`
	// SentMS and AnsweredMS are when the last creation reached the API server and was answered, relative to the
	// answer to the edit.
	SentMS     float64 `json:"lastSentMS"`
	AnsweredMS float64 `json:"lastAnsweredMS"`
}

// stopEdits are the edits of a Job whose pods do not end by themselves; settled reports whether it has no pods too many.
var stopEdits = []struct {
	name, patch string
	settled     func(*batchv1.Job) (bool, error)
}{
	{"suspended", `{"spec":{"suspend":true}}`, isSuspended},
	{"scaled down to 1 pod", `{"spec":{"parallelism":1}}`, isActive(1)},
}

func (b *bench) stops(ctx context.Context) ([]stopped, error) {
	if err := b.warmUp(ctx, slices.Max(b.stopSizes)); err != nil {
		return nil, err
	}
	var list []stopped
	for _, pods := range b.stopSizes {
		for edit := range stopEdits {
			for _, s := range []side{ours, builtIn} {
				r, err := b.stopJob(ctx, s, pods, edit)
				if err != nil {
					return list, err
				}
				progress("Stop, %d indexes, %s, %s: the last creation %.0f ms after the edit", pods, r.Edit, s, r.AnsweredMS)
				list = append(list, r)
			}
		}
	}
	return list, nil
}

// stopJob edits a Job, and reads the API server's audit log once the surplus pods are gone.
func (b *bench) stopJob(ctx context.Context, s side, pods, edit int) (stopped, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	r := stopped{Side: s, Pods: pods, Edit: stopEdits[edit].name}
	group := fmt.Sprintf("stop-%d", b.jobs.made)
	job := b.jobs.group(s, group, 1, func(int) (shape, []variant) { return shape{pods, true}, []variant{running(forever)} })[0]
	var edited time.Time
	calls, err := b.launched.callsDuring(func() error {
		if err := b.api.createUntil(ctx, job, groupOf(group), pods/stopShare); err != nil {
			return err
		}
		changed, err := b.api.BatchV1().Jobs(namespace).Patch(ctx, job.Name, types.MergePatchType, []byte(stopEdits[edit].patch), metav1.PatchOptions{})
		edited = time.Now()
		if err != nil {
			return err
		}
		return b.api.untilAll(ctx, group, changed.ResourceVersion, 1, stopEdits[edit].settled)
	})
	if err != nil {
		return r, err
	}
	var before int
	if before, r.lastCreations = creationsAfter(calls, edited); before >= pods {
		return r, fmt.Errorf("the Job of %d indexes had all of its pods before it was edited: choose more with --stop-sizes", pods)
	}
	return r, b.api.removeGroup(ctx, group)
}

// createUntil creates a Job and waits until a watch has shown n of its pods.
func (a api) createUntil(ctx context.Context, job *batchv1.Job, pods metav1.ListOptions, n int) error {
	none, err := a.CoreV1().Pods(namespace).List(ctx, pods)
	if err != nil {
		return err
	}
	if _, err := a.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
		return err
	}
	seen := 0
	pods.ResourceVersion = none.ResourceVersion
	return follow(ctx, a.CoreV1().Pods(namespace).Watch, pods, func(event watch.EventType, _ *corev1.Pod) (bool, error) {
		if event == watch.Added {
			seen++
		}
		return seen >= n, nil
	})
}

// creationsAfter counts the creations that were answered before an edit, and describes the later ones. Failed creations
// do not count.
func creationsAfter(calls []loggedCall, edited time.Time) (before int, last lastCreations) {
	after := func(t time.Time) float64 { return max(0, 1000*t.Sub(edited).Seconds()) }
	for _, c := range calls {
		if c.kind != callCreate || c.code >= 400 {
			continue
		}
		if !c.ended.After(edited) {
			before++
			continue
		}
		last.Count++
		last.SentMS, last.AnsweredMS = max(last.SentMS, after(c.begun)), max(last.AnsweredMS, after(c.ended))
	}
	return before, last
}

func (r *report) addStops(all []stopped) {
	for _, mine := range all {
		if mine.Side != ours {
			continue
		}
		var other *stopped
		for i := range all {
			if all[i].Side == builtIn && all[i].Pods == mine.Pods && all[i].Edit == mine.Edit {
				other = &all[i]
			}
		}
		add := func(what string, most *target, of func(lastCreations) float64) {
			value := of(mine.lastCreations)
			var builtIn *float64
			if other != nil {
				v := of(other.lastCreations)
				builtIn = &v
			}
			r.add("", fmt.Sprintf("%d indexes, %s: %s", mine.Pods, mine.Edit, what), 0, &value, builtIn, most)
		}
		add("last pod created, ms", &target{Limit: mostStopMS}, func(l lastCreations) float64 { return l.AnsweredMS })
		add("last creation sent, ms", nil, func(l lastCreations) float64 { return l.SentMS })
		add("pods created after the edit", nil, func(l lastCreations) float64 { return float64(l.Count) })
	}
	if len(all) > 0 {
		r.note(fmt.Sprintf("Stop: times are since the answer to the edit, which is made when a watch has shown one in %d pods; they are those of the API server's audit log.", stopShare))
	}
}
