package fidelity

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// jobStatus writes a status that a controller could write next, sometimes with odd changes.
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

// plausible returns a plausible next step of a Job.
func (g *generator) plausible(job *batchv1.Job) []arg {
	failing, succeeding := history.Is(job, batchv1.JobFailureTarget), history.Is(job, batchv1.JobSuccessCriteriaMet)
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

// progress changes the counters of a Job, or suspends or resumes it.
func (g *generator) progress(job *batchv1.Job) []arg {
	if history.Is(job, batchv1.JobSuspended) && g.chance(50) {
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

// finish finishes a Job.
func (g *generator) finish(key, value string) []arg {
	return []arg{{"active", "0"}, {"ready", "0"}, {"terminating", "0"}, {"uncounted", g.one("/", "/", unset)}, {key, value}}
}

// oddStatus returns a change that may violate a rule.
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
