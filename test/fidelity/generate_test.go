package fidelity

import (
	"fmt"
	"math/rand/v2"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// generator makes random calls, given what the objects are at the moment.
type generator struct {
	*rand.Rand
	player *player
	// terminated reports whether the namespace is being deleted.
	terminated bool
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) one(list ...string) string { return list[g.IntN(len(list))] }

// jobs and pods are how many objects a sequence has; few, so that the same are used again and again.
const (
	jobs = 2
	pods = 3
)

// sequence makes 5 to 30 calls, and plays them to the generator's player.
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

// see plays a call.
func (g *generator) see(c call) {
	if _, _, err := g.player.play(c); err != nil {
		panic(err) // The virtual server can always be read.
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

func (g *generator) jobCall(label string) call {
	job := g.player.object(label).job
	if job == nil && !g.chance(5) || g.chance(2) {
		return g.createJob(label)
	}
	switch n := g.IntN(100); {
	case n < 62 && job != nil:
		return g.jobStatus(label, job)
	case n < 90 && job != nil:
		return g.editJob(label)
	}
	return call{"delete", label, []arg{{"propagation", g.one("Background", "Foreground", "Orphan")}}}
}

// createJob makes a Job, valid most of the time.
func (g *generator) createJob(label string) call {
	c := call{"create", label, nil}
	add := func(percent int, key string, values ...string) {
		if g.chance(percent) {
			c.args = append(c.args, arg{key, g.one(values...)})
		}
	}
	if g.chance(60) {
		add(100, "mode", "Indexed")
		add(97, "completions", "3", "3", "2", "1", "0")
		add(70, "parallelism", "3", "3", "2", "1", "0")
		add(40, "perIndex", "1", "0")
		if c.has("perIndex", "1") {
			add(30, "maxFailed", "1", "0", "4")
		}
		add(25, "success", "count:2", "indexes:0-1", "count:1,indexes:0", "indexes:0,count:2")
	} else {
		add(60, "completions", "3", "2", "1", "0")
		add(60, "parallelism", "3", "2", "1", "0")
	}
	add(20, "failurePolicy", "FailJob:42", "Ignore:condition", "Count:42,Ignore:condition", "FailJob:42:main")
	add(15, "replacement", "Failed", "TerminatingOrFailed")
	add(30, "suspend", "true", "false")
	add(70, "managedBy", "example.com/x")
	add(10, "backoffLimit", "0", "3")
	add(8, "deadline", "0", "60")
	add(8, "ttl", "0", "60")
	add(10, "restart", "OnFailure", "Never")
	add(30, "finalizer", "example.com/a", "example.com/b")
	add(100, "label", "app:x")
	add(15, "annotation", "a:b")
	add(5, "templateLabel", "a:b")
	add(4, "manualSelector", "matching", "matching", "other", "none")
	for g.chance(12) {
		c.args = append(c.args, g.oddSpec())
	}
	return c
}

// oddSpec is a part of a spec that makes many a Job invalid.
func (g *generator) oddSpec() arg {
	all := []arg{
		{"completions", "-1"}, {"completions", "-"}, {"parallelism", "-1"}, {"backoffLimit", "-1"}, {"perIndex", "-1"}, {"perIndex", "1"},
		{"maxFailed", "-1"}, {"maxFailed", "4"}, {"maxFailed", "1"}, {"deadline", "-1"}, {"ttl", "-1"}, {"mode", "Other"}, {"managedBy", "none"},
		{"replacement", "Other"}, {"replacement", "TerminatingOrFailed"}, {"restart", "Always"}, {"restart", "OnFailure"}, {"restart", "Other"},
		{"success", "none"}, {"success", "count:4"}, {"success", "count:-1"}, {"success", "indexes:0-3"}, {"success", "indexes:1,count:9"},
		{"success", "indexes:x"}, {"failurePolicy", "FailIndex:42"}, {"failurePolicy", "Count:both"}, {"failurePolicy", "Count:neither"},
		{"failurePolicy", "Count:0"}, {"failurePolicy", "Count:42:other"}, {"failurePolicy", "Other:42"}, {"templateLabel", "job-name:x"},
		{"templateLabel", "controller-uid:x"}, {"mode", "NonIndexed"},
	}
	return all[g.IntN(len(all))]
}

func (g *generator) editJob(label string) call {
	c := call{"edit", label, nil}
	for len(c.args) == 0 || g.chance(25) {
		switch n := g.IntN(100); {
		case n < 15:
			c.args = append(c.args, arg{"parallelism", g.one("0", "1", "2", "3", "4")})
		case n < 25:
			size := g.one("0", "1", "2", "3", "4")
			c.args = append(c.args, arg{"completions", size}, arg{"parallelism", size})
		case n < 30:
			c.args = append(c.args, arg{"completions", g.one("0", "1", "2", "3", "4")})
		case n < 50:
			c.args = append(c.args, arg{"suspend", g.one("true", "false")})
		case n < 57:
			c.args = append(c.args, arg{g.one("deadline", "ttl", "backoffLimit"), g.one("-", "0", "60", "-1")})
		case n < 75:
			c.args = append(c.args, g.editMetadata())
		case n < 82:
			c.args = append(c.args, arg{g.one("mode", "managedBy", "perIndex", "maxFailed", "success", "failurePolicy", "replacement", "restart"), g.one("Indexed", "example.com/y", "2", "1", "-", "Failed", "Never", "0")})
		case n < 88:
			c.args = append(c.args, arg{"image", "other"})
		case n < 92:
			c.args = append(c.args, arg{"templateLabel", g.one("a:b", "job-name:x")})
		default:
			c.args = append(c.args, g.oddSpec())
		}
	}
	return c
}

func (g *generator) editMetadata() arg {
	all := []arg{
		{"label", g.one("a:b", "a:c", "d:e")}, {"unlabel", g.one("a", "d")}, {"annotation", g.one("a:b", "a:c")}, {"unannotation", "a"},
		{"finalizer", g.finalizer()}, {"unfinalizer", g.finalizer()}, {"unfinalizer", g.finalizer()},
	}
	return all[g.IntN(len(all))]
}

func (g *generator) finalizer() string {
	return g.one("example.com/a", "example.com/b", "batch.kubernetes.io/job-tracking", "foregroundDeletion", "orphan")
}

// jobStatus makes a status that a controller could write next, or nearly so.
func (g *generator) jobStatus(label string, job *batchv1.Job) call {
	c := call{"status", label, nil}
	if g.chance(75) {
		c.args = g.plausible(job)
	}
	for len(c.args) == 0 || g.chance(30) {
		c.args = append(c.args, g.oddStatus())
	}
	if g.chance(4) {
		c.args = append(c.args, arg{"version", "before"})
	}
	if g.chance(2) {
		c.args = append(c.args, arg{"uid", "before"})
	}
	return c
}

func isTrue(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// plausible is the next step of a Job.
func (g *generator) plausible(job *batchv1.Job) []arg {
	failing, succeeding := isTrue(job, batchv1.JobFailureTarget), isTrue(job, batchv1.JobSuccessCriteriaMet)
	switch {
	case job.Status.StartTime == nil && g.chance(70):
		return []arg{{"start", g.one("t10", "t11")}, {"ready", "0"}, {"terminating", "0"}, {"uncounted", "/"}}
	case failing && g.chance(75):
		return g.finish("condition", "Failed:True")
	case succeeding && g.chance(75):
		return append(g.finish("condition", "Complete:True"), arg{"completion", g.one("t20", "t21")})
	case !failing && !succeeding && g.chance(35):
		return []arg{{"condition", g.one("FailureTarget:True", "SuccessCriteriaMet:True")}}
	}
	return g.progress(job)
}

// progress changes the numbers of a Job, or suspends or resumes it.
func (g *generator) progress(job *batchv1.Job) []arg {
	if isTrue(job, batchv1.JobSuspended) && g.chance(50) {
		return []arg{{"condition", g.one("Suspended:False", "Suspended:-")}, {"start", g.one("t12", "t13")}}
	}
	switch g.IntN(6) {
	case 0:
		return []arg{{"condition", "Suspended:True"}, {"start", unset}, {"active", "0"}, {"ready", "0"}}
	case 1, 2:
		return []arg{{"uncounted", g.one("a/", "/b", "a,c/b", "/")}, {"active", g.one("0", "1", "2")}}
	case 3:
		return []arg{{"completed", g.one("0", "0-1", "0,2", "1")}, {"succeeded", g.one("1", "2", "3")}}
	case 4:
		return []arg{{"failedIndexes", g.one("0", "2", "0-2", "1,2")}, {"failed", g.one("1", "2", "3")}}
	}
	return []arg{{"active", g.one("1", "2", "3")}, {"ready", g.one("0", "1", "2")}}
}

// finish ends a Job.
func (g *generator) finish(key, value string) []arg {
	return []arg{{"active", "0"}, {"ready", "0"}, {"terminating", "0"}, {"uncounted", g.one("/", "/", unset)}, {key, value}}
}

// oddStatus is a change that may break a rule.
func (g *generator) oddStatus() arg {
	condition := func() string {
		kind := g.one("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended", "example.com/other")
		return kind + ":" + g.one("True", "True", "False", "Unknown", unset)
	}
	all := []arg{
		{"active", g.one("-1", "0", "1", "2")}, {"ready", g.one("-1", unset, "0", "1", "3")}, {"terminating", g.one("-1", unset, "0", "1")},
		{"succeeded", g.one("-1", "0", "1", "2")}, {"failed", g.one("-1", "0", "1", "2")}, {"start", g.one(unset, "t10", "t11", "t30")},
		{"completion", g.one(unset, "t5", "t20", "t21")}, {"completed", g.one(unset, "0", "0-2", "3", "1,0", "0-x", "2-3", "0-0", "0,1", "-1")},
		{"failedIndexes", g.one(unset, "", "0", "1-2", "4", "x", "2,1", "0,1,2")}, {"uncounted", g.one(unset, "/", "a/a", "a,a/", "@/", "/@", "b/c")},
		{"condition", condition()}, {"condition", condition()}, {"condition", condition()}, {"condition", condition()},
	}
	return all[g.IntN(len(all))]
}

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
	case n < 50:
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
	add(50, "generateName", "true")
	add(60, "node", "node")
	add(30, "grace", "0", "60", "600")
	add(15, "finalizer", "example.com/a")
	add(15, "label", "a:b")
	add(10, "annotation", "a:b")
	add(6, "otherOwner", "job1")
	add(4, "owner", "job1")
	add(4, "phase", "Running")
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
	return c
}

// patch is one of the patches of our controller.
func (g *generator) patch(label string) call {
	c := call{"patch", label, []arg{{"kind", g.one("release", "release", "adopt", "disown", "claim")}, {"job", g.one("job0", "job1")}}}
	if g.chance(40) {
		c.args = append(c.args, arg{"version", g.one("now", "now", "before")})
	}
	if g.chance(10) {
		c.args = append(c.args, arg{"uid", "before"})
	}
	return c
}

func (g *generator) deletePod(label string) call {
	c := call{"delete", label, nil}
	if g.chance(60) {
		c.args = append(c.args, arg{"grace", g.one("0", "0", "0", "60", "120", "600", "-1")})
	}
	if g.chance(50) {
		c.args = append(c.args, arg{"uid", g.one("now", "now", "before")})
	}
	if g.chance(20) {
		c.args = append(c.args, arg{"version", g.one("now", "before")})
	}
	return c
}
