package fidelity

import (
	"errors"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// shrink removes calls and arguments as long as the kind of the difference stays the same.
func (l *lane) shrink(calls []call, found difference) ([]call, difference, error) {
	want := found.kind(calls)
	for again := true; again; {
		again = false
		for i := len(calls) - 1; i >= 0; i-- {
			for _, fewer := range simpler(calls, i) {
				d, err := l.compare(fewer)
				if err != nil {
					return nil, difference{}, err
				}
				if d.kind(fewer) == want && knownDifference(fewer, d) == nil {
					calls, found, again = fewer, d, true
					break
				}
			}
		}
	}
	return calls, found, nil
}

// kind identifies a bug: the verb of the call, both answers, and the fields that differ.
func (d difference) kind(calls []call) string {
	words := []string{"at the end"}
	if d.at < len(calls) {
		words = []string{calls[d.at].verb, d.virtual, d.actual}
	}
	for _, line := range d.lines {
		path, _, _ := strings.Cut(line, ": ")
		words = append(words, path)
	}
	return strings.Join(words, "\n")
}

// simpler returns the calls without call i, and the calls without each one of its arguments.
func simpler(calls []call, i int) [][]call {
	if i >= len(calls) {
		return nil
	}
	all := [][]call{slices.Delete(slices.Clone(calls), i, i+1)}
	for j, a := range calls[i].args {
		if a.key == "propagation" {
			continue // Deleting a Job needs it.
		}
		fewer := slices.Clone(calls)
		fewer[i].args = slices.Delete(slices.Clone(fewer[i].args), j, j+1)
		all = append(all, fewer)
	}
	return all
}

// forgetful is a server with a bug: a terminating pod loses its finalizers with the first change of its status.
type forgetful struct{ virtual }

func (f forgetful) updatePodStatus(pod *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error) {
	return f.virtual.updatePodStatus(pod, func(p *corev1.Pod) {
		edit(p)
		if p.DeletionTimestamp != nil {
			p.Finalizers = nil
		}
	})
}

// Random sequences find a bug, and the sequence is shrunk to the necessary calls.
// Requirements: FID-03
func TestDifferenceIsShrunk(t *testing.T) {
	l := &lane{newServer: func() (server, error) { return forgetful{newVirtual()}, nil }}
	for seed := uint64(1); seed < 500; seed++ {
		l.server = nil
		calls := generate(seed)
		found, err := l.compare(calls)
		assert.NoError(t, err)
		if len(found.lines) == 0 {
			continue
		}
		short, found, err := l.shrink(calls[:min(found.at+1, len(calls))], found)
		assert.NoError(t, err)
		again, err := parseCalls(format(short))
		assert.NoError(t, err)
		if replayed, err := l.compare(again); err != nil || !slices.Equal(replayed.lines, found.lines) {
			t.Errorf("replaying yields %q, %v, want %q", replayed.lines, err, found.lines)
		}
		if len(short) != 3 || short[0].verb != "create" || short[1].verb == "status" || short[2].verb != "status" {
			t.Errorf("seed %d is shrunk to\n%s%s", seed, format(short), strings.Join(found.lines, "\n"))
		}
		return
	}
	t.Error("no sequence finds the bug")
}

// rejecting is a server with a bug: it rejects success policies. Without completions, it panics, which is a listed
// difference of all releases.
type rejecting struct{ virtual }

func (r rejecting) createJob(job *batchv1.Job) (*batchv1.Job, error) {
	switch {
	case job.Spec.SuccessPolicy == nil:
		return r.virtual.createJob(job)
	case job.Spec.Completions == nil:
		return nil, errors.New("INTERNAL_ERROR")
	}
	return nil, apierrors.NewBadRequest("no success policies")
}

// A difference is not shrunk to another one or to a listed one. The same difference is reported once.
// Requirements: FID-03
func TestDifferenceStaysTheSame(t *testing.T) {
	l := &lane{newServer: func() (server, error) { return rejecting{newVirtual()}, nil }}
	calls, err := parseCalls("create job0 mode=Indexed completions=2 parallelism=2 success=indexes:0-3")
	assert.NoError(t, err)
	found, err := l.compare(calls)
	assert.NoError(t, err)
	short, same, err := l.shrink(calls, found)
	if got := strings.TrimSpace(format(short)); err != nil || same.actual != found.actual || got != "create job0 mode=Indexed completions=2 success=indexes:0-3" {
		t.Errorf("shrunk to %s: %q, %v", got, same.lines, err)
	}
	a := &account{known: map[string]int{}, reported: map[string]bool{}}
	other := difference{virtual: found.virtual, actual: "500", lines: found.lines}
	if !a.add(calls, found) || a.add(short, same) || !a.add(calls, other) {
		t.Errorf("reported: %v", a.reported)
	}
}
