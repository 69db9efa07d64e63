//go:build unix

package main

import "fmt"

// The targets for a Job of 10^5 indexes.
const (
	mostOverFloor    = 1.03
	mostGiantMB      = 250
	mostSyncMS       = 1000
	mostWatchMB      = 150
	mostWatchCores   = 0.3
	mostExplainMB    = 100
	mostExplainTaken = 3 // seconds
)

func (r *report) addGiant(g giant) {
	where := fmt.Sprintf("%d indexes: ", g.Pods)
	all := bulks{g.Ours, g.Floor}
	r.addFloor(all, where, &target{Limit: mostOverFloor})
	if len(all.of(ours)) > 0 { // Otherwise, an error came first.
		r.addGiantJob(where, g, all)
	}
	for _, look := range g.Looks {
		r.addLook(where, look)
	}
}

func (r *report) addGiantJob(where string, g giant, all bulks) {
	r.add("", where+"create to Complete, s", 0, all.mean(ours, bulk.seconds), nil, nil)
	n := float64(g.Pods)
	count := account(g.Ours.Requests)
	value := func(v float64) *float64 { return &v }
	r.add("SCL-03", where+"requests about pods, per pod", 3, value(float64(count.podRequests())/n), nil, &target{Limit: 2.01})
	r.add("SCL-03", where+"status writes", 0, value(float64(count.Status)), nil, nil)
	r.add("", where+"size of the Job, KB", 0, value(float64(g.JobBytes)/1e3), nil, nil)
	r.addSyncTimes(where, g)
	r.addProcesses(all, where, nil, &target{Limit: mostGiantMB})
}

func (r *report) addSyncTimes(where string, g giant) {
	for _, p := range []struct {
		name    string
		seconds *float64
		goal    *target
	}{{"p50", g.SyncP50, nil}, {"p99", g.SyncP99, &target{Limit: mostSyncMS}}} {
		if p.seconds != nil {
			ms := 1000 * *p.seconds
			r.add("", where+"sync, "+p.name+", ms", 0, &ms, nil, p.goal)
		}
	}
}

// addLook adds the costs of a verb.
func (r *report) addLook(where string, look lookCosts) {
	seconds, cores := look.Seconds, look.CPU/look.Seconds
	requests, received, peak := float64(look.Requests), mega(look.Bytes), mega(look.Peak)
	what := where + look.Verb
	var mostMB, mostSeconds, mostCores *target
	switch look.Verb {
	case "watch":
		mostMB, mostCores = &target{Limit: mostWatchMB, Below: true}, &target{Limit: mostWatchCores}
	case "why":
		mostMB, mostSeconds = &target{Limit: mostExplainMB, Below: true}, &target{Limit: mostExplainTaken, Below: true}
	}
	r.add("", what+", s", 1, &seconds, nil, mostSeconds)
	r.add("", what+", cores", 2, &cores, nil, mostCores)
	r.add("", what+", requests", 0, &requests, nil, nil)
	r.add("", what+", received, MB", 1, &received, nil, nil)
	r.add("", what+", peak RSS, MB", 0, &peak, nil, mostMB)
}
