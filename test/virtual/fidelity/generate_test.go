package fidelity

import (
	"fmt"
	"math/rand/v2"
)

// generator makes random calls that depend on the current objects.
type generator struct {
	*rand.Rand
	player *player
	// terminated reports whether the namespace is being deleted.
	terminated bool
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) one(list ...string) string { return list[g.IntN(len(list))] }

// jobs and pods are the number of objects in a sequence; few, so that the same objects are used repeatedly.
const (
	jobs = 2
	pods = 3
)

// sequence returns 5 to 30 calls, after playing them to the generator's player.
func (g *generator) sequence() []call {
	calls := []call{g.createJob("job0")}
	g.see(calls[0])
	for range 4 + g.IntN(26) {
		c := g.call()
		calls = append(calls, c)
		g.see(c)
	}
	return calls
}

// see plays a call to the generator's player.
func (g *generator) see(c call) {
	if _, _, err := g.player.play(c); err != nil {
		panic(err) // Reading from the virtual server cannot fail.
	}
}

func (g *generator) call() call {
	if g.IntN(600) == 0 {
		g.terminated = true
		return call{"namespace", "job0", nil}
	}
	if g.chance(55) {
		return g.jobCall(fmt.Sprintf("job%d", g.IntN(jobs)))
	}
	return g.podCall(fmt.Sprintf("pod%d", g.IntN(pods)))
}

// name returns an argument that makes an object's name too long or gives it an unusual suffix.
func (g *generator) name(lengths ...string) arg {
	if g.chance(30) {
		return arg{"suffix", g.one(".a", "-a", "_", "A", "-")}
	}
	return arg{"length", g.one(lengths...)}
}

func (g *generator) editMetadata() arg {
	all := []arg{
		{"label", g.one("a:b", "a:b", "a:c", "a:c", "d:e", "a:-", "-x:a")}, {"unlabel", g.one("a", "d")},
		{"annotation", g.one("a:b", "a:b", "a:c", "a:c", "-x:a")}, {"unannotation", "a"},
		{"finalizer", g.finalizer()}, {"unfinalizer", g.finalizer()}, {"unfinalizer", g.finalizer()},
	}
	return all[g.IntN(len(all))]
}

func (g *generator) finalizer() string {
	if g.chance(6) {
		return g.one("a", "-/x", "kubernetes")
	}
	return g.one("example.com/a", "example.com/b", "batch.kubernetes.io/job-tracking", "foregroundDeletion", "orphan")
}
