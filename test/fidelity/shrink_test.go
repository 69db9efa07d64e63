package fidelity

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// shrink removes calls and arguments as long as the same fields differ.
func (l *lane) shrink(calls []call, found difference) ([]call, difference, error) {
	want := fieldsOf(found)
	for again := true; again; {
		again = false
		for i := len(calls) - 1; i >= 0; i-- {
			for _, fewer := range simpler(calls, i) {
				d, err := l.compare(fewer)
				if err != nil {
					return nil, difference{}, err
				}
				if len(d.lines) > 0 && slices.Equal(fieldsOf(d), want) {
					calls, found, again = fewer, d, true
					break
				}
			}
		}
	}
	return calls, found, nil
}

// fieldsOf are the fields that differ.
func fieldsOf(d difference) (fields []string) {
	for _, line := range d.lines {
		path, _, _ := strings.Cut(line, ": ")
		fields = append(fields, path)
	}
	return fields
}

// simpler returns the calls without call i, and those without one of its arguments.
func simpler(calls []call, i int) [][]call {
	if i >= len(calls) {
		return nil
	}
	all := [][]call{slices.Delete(slices.Clone(calls), i, i+1)}
	for j, a := range calls[i].args {
		if a.key == "propagation" {
			continue // A deletion of a Job needs it.
		}
		fewer := slices.Clone(calls)
		fewer[i].args = slices.Delete(slices.Clone(fewer[i].args), j, j+1)
		all = append(all, fewer)
	}
	return all
}

// forgetful is a server with a bug: a pod that is being deleted loses its finalizers with the first change of its status.
type forgetful struct{ virtual }

func (f forgetful) updatePodStatus(pod *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error) {
	return f.virtual.updatePodStatus(pod, func(p *corev1.Pod) {
		edit(p)
		if p.DeletionTimestamp != nil {
			p.Finalizers = nil
		}
	})
}

// A bug is found by random sequences, and shrunk to what it takes to see it.
func TestDifferenceIsShrunk_FID_03(t *testing.T) {
	l := &lane{newServer: func() (server, error) { return forgetful{newVirtual()}, nil }}
	for seed := uint64(1); seed < 500; seed++ {
		l.server = nil
		calls := generate(seed)
		found, err := l.compare(calls)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.lines) == 0 {
			continue
		}
		short, found, err := l.shrink(calls[:min(found.at+1, len(calls))], found)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseCalls(format(short))
		if err != nil {
			t.Fatal(err)
		}
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
