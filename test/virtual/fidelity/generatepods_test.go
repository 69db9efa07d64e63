package fidelity

import batchv1 "k8s.io/api/batch/v1"

func (g *generator) podCall(label string) call {
	pod := g.player.object(label).pod
	if pod == nil && !g.chance(5) || g.chance(2) {
		return g.createPod(label)
	}
	if pod == nil {
		return call{g.one("delete", "evict"), label, nil}
	}
	switch n := g.IntN(100); {
	case n < 12 && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !g.terminated:
		return call{"bind", label, nil}
	case n < 40:
		return g.podStatus(label)
	case n < 52:
		return g.editPod(label)
	case n < 72:
		return g.patch(label)
	case n < 80:
		return call{"evict", label, nil}
	}
	return g.deletePod(label)
}

func (g *generator) createPod(label string) call {
	c := call{"create", label, []arg{{"owner", "job0"}, {"finalizer", batchv1.JobTrackingFinalizer}}}
	if g.chance(20) {
		c.args = c.args[:g.IntN(2)]
	}
	add := func(percent int, key string, values ...string) {
		if g.chance(percent) {
			c.args = append(c.args, arg{key, g.one(values...)})
		}
	}
	add(50, "generateName", "true", "true", "true", "true", "both")
	add(60, "node", "node")
	add(30, "grace", "0", "60", "600", "-1")
	add(10, "restart", "OnFailure", "OnFailure", "Always", "", "Other")
	add(15, "finalizer", "example.com/a")
	add(15, "label", "a:b")
	add(10, "annotation", "a:b")
	add(6, "otherOwner", "job1")
	add(4, "owner", "job1")
	add(4, "phase", "Running")
	if g.chance(4) {
		c.args = append(c.args, g.name("63", "64", "252", "253", "254"))
	}
	return c
}

func (g *generator) podStatus(label string) call {
	c := call{"status", label, nil}
	switch g.IntN(6) {
	case 0, 1:
		c.args = []arg{{"phase", "Running"}, {"running", "0"}, {"condition", "Ready:True"}}
	case 2:
		c.args = []arg{{"phase", "Succeeded"}, {"exit", "0"}, {"condition", "Ready:False"}}
	case 3:
		c.args = []arg{{"phase", "Failed"}, {"exit", g.one("1", "42", "137")}}
	}
	for len(c.args) == 0 || g.chance(20) {
		all := []arg{
			{"phase", g.one("Pending", "Running", "Succeeded", "Failed", "Unknown")}, {"reason", g.one("Evicted", unset)}, {"message", g.one("m", unset)},
			{"condition", g.one("Ready", "DisruptionTarget", "PodReadyToStartContainers") + ":" + g.one("True", "False", unset)}, {"running", g.one("0", "2")}, {"exit", g.one("0", "1")},
		}
		c.args = append(c.args, all[g.IntN(len(all))])
	}
	return c
}

func (g *generator) editPod(label string) call {
	c := call{"edit", label, []arg{g.editMetadata()}}
	for g.chance(25) {
		c.args = append(c.args, g.editMetadata())
	}
	if g.chance(15) {
		c.args = append(c.args, arg{g.one("owner", "otherOwner"), g.one("job0", "job1")})
	}
	if g.chance(25) {
		all := []arg{{"image", g.one("image", "other")}, {"deadline", g.one("-", "-1", "0", "30", "60", "4294967296")}, {"hostname", "x"}}
		c.args = append(c.args, all[g.IntN(len(all))])
	}
	return c
}

// patch makes one of our controller's patches.
func (g *generator) patch(label string) call {
	c := call{"patch", label, []arg{{"kind", g.one("release", "release", "adopt", "disown")}, {"job", g.one("job0", "job1")}}}
	if g.chance(40) {
		c.args = append(c.args, arg{"version", g.one("now", "now", "before")})
	}
	if g.chance(10) {
		c.args = append(c.args, arg{"uid", "before"})
	}
	return c
}

// A pod that is deleted with the grace period longer and then with past gets a deletion time in the past: the
// nanoseconds of both overflow 64 bits.
const (
	longer = "20000000000"
	past   = "10000000000"
)

func (g *generator) deletePod(label string) call {
	c := call{"delete", label, nil}
	if g.chance(60) {
		c.args = append(c.args, arg{"grace", g.one("0", "0", "0", "60", "60", "120", "600", "600", "-1", past, longer)})
	}
	if g.chance(50) {
		c.args = append(c.args, arg{"uid", g.one("now", "now", "before")})
	}
	if g.chance(20) {
		c.args = append(c.args, arg{"version", g.one("now", "before")})
	}
	return c
}
