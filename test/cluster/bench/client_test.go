//go:build unix

package main

import (
	"context"
	"errors"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

func podAt(version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
}

// watches is a fake that serves its watches one after the other; each ends after its objects.
type watches struct {
	brings [][]*corev1.Pod
	from   []string
}

func (f *watches) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	f.from = append(f.from, options.ResourceVersion)
	if len(f.brings) == 0 {
		return nil, errors.New("no more watches")
	}
	w := watch.NewRaceFreeFake()
	for _, pod := range f.brings[0] {
		w.Modify(pod)
	}
	w.Stop()
	f.brings = f.brings[1:]
	return w, nil
}

// A watch that ends is followed by a watch that misses no change.
func TestWatchThatEndsIsFollowedByAnother(t *testing.T) {
	f := &watches{brings: [][]*corev1.Pod{{podAt("5"), podAt("7")}, {}, {podAt("8"), podAt("9"), podAt("10")}}}
	var got []string
	err := follow(t.Context(), f.watch, metav1.ListOptions{ResourceVersion: "4"}, func(_ watch.EventType, pod *corev1.Pod) (bool, error) {
		got = append(got, pod.ResourceVersion)
		return pod.ResourceVersion == "9", nil
	})
	if err != nil || !slices.Equal(got, []string{"5", "7", "8", "9"}) || !slices.Equal(f.from, []string{"4", "7", "7"}) {
		t.Errorf("got %v, %v, from %v", got, err, f.from)
	}
}

func TestFollowErrors(t *testing.T) {
	never := func(watch.EventType, *corev1.Pod) (bool, error) { return false, nil }
	if err := follow(t.Context(), (&watches{}).watch, metav1.ListOptions{}, never); err == nil {
		t.Error("no error although there is no watch")
	}
	expired := func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		w := watch.NewRaceFreeFake()
		w.Error(&metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired})
		return w, nil
	}
	if err := follow(t.Context(), expired, metav1.ListOptions{}, never); err == nil {
		t.Error("no error although the version is too old")
	}
	jobs := func(watch.EventType, *batchv1.Job) (bool, error) { return false, nil }
	if err := follow(t.Context(), (&watches{brings: [][]*corev1.Pod{{podAt("1")}}}).watch, metav1.ListOptions{}, jobs); err == nil {
		t.Error("no error although the watch brings something else")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent := func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		return watch.NewRaceFreeFake(), nil
	}
	if err := follow(ctx, silent, metav1.ListOptions{}, never); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
