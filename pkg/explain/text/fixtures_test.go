package text

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// started is the time of what the tests make themselves.
var started = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) *metav1.Time {
	return &metav1.Time{Time: started.Add(time.Duration(seconds) * time.Second)}
}

// recordings are where a real API server's objects are recorded.
const (
	storiesFolder = "../analysis/testdata/recorded"
	fieldFolder   = "../../../test/world/field/recordings"
)

// stories are the files of the recorded Jobs that are drawn.
var stories = map[string]string{
	"failed-by-rule":      storiesFolder + "/failure-policy-named",
	"backoff-limit":       storiesFolder + "/backoff-limit-oom",
	"max-failed-indexes":  storiesFolder + "/max-failed-indexes",
	"stalled-by-quota":    storiesFolder + "/quota",
	"stalled-by-policy":   storiesFolder + "/admission-denied",
	"image-pull":          storiesFolder + "/image-pull",
	"failure-target":      storiesFolder + "/failure-target",
	"success-criteria":    storiesFolder + "/success-criteria-met",
	"suspended":           storiesFolder + "/suspended-kueue",
	"complete":            storiesFolder + "/completions",
	"running-with-policy": storiesFolder + "/running-success-policy",
	"disruptions":         fieldFolder + "/karpenter-consolidates",
}

// inputOf returns what is known about the Job of a story.
func inputOf(name string) input.Input {
	c, err := recorded.Load(filepath.FromSlash(stories[name] + ".yaml"))
	if err != nil {
		panic(err)
	}
	return c.Inputs[0]
}

// story explains the Job of a story.
func story(name string) explain.Report { return analysis.Explain(inputOf(name), explain.Options{}) }

// fixtures are the Reports on all stories, on a Job about which little is readable, and on one with wide characters. Tests do not
// change them.
var fixtures = sync.OnceValue(func() map[string]explain.Report {
	all := map[string]explain.Report{"nothing-readable": nothingReadable(), "wide-runes": wideRunes()}
	for name := range stories {
		all[name] = story(name)
	}
	return all
})

func nothingReadable() explain.Report {
	f := inputOf("backoff-limit")
	f.Pods, f.PodsRead, f.Events, f.EventsRead = nil, false, nil, false
	f.Gaps = []input.Gap{
		{What: "pods", Text: `pods could not be read: user "jane" may not list pods in namespace ml`, Command: "kubectl auth can-i list pods -n ml"},
		{What: "events", Text: `events could not be read: user "jane" may not list events in namespace ml`, Command: "kubectl auth can-i list events -n ml"},
		{What: "logs", Text: "logs were not read: no pod is known"},
	}
	return analysis.Explain(f, explain.Options{})
}

// wideRunes returns a Report with text of double width, with zero-width marks, and with escape sequences.
func wideRunes() explain.Report {
	f := inputOf("backoff-limit")
	for i, p := range f.Pods {
		p.Name = fmt.Sprintf("日本語のとても長い名前のポッド-日本語のとても長い名前のポッド-%d", i)
		f.Logs = append(f.Logs, input.LogTail{Pod: p.Name, Container: p.Containers[0].Name, Lines: []string{
			"設定ファイルが見つかりません：データセットの場所を確認してから、もう一度ジョブを作成してください。データセットの場所を確認してから、もう一度ジョブを作成してください。",
			"e\u0301te\u0301 👩🏽 \x1b[31mred\x1b[0m \u202eesrever", "a\ttab",
		}})
	}
	return analysis.Explain(f, explain.Options{})
}

// several are the Reports on five Jobs.
var several = sync.OnceValue(func() explain.ReportList {
	return analysis.List([]explain.Report{
		story("failed-by-rule"), story("backoff-limit"), story("complete"), story("running-with-policy"), nothingReadable(),
	})
})

// groups are 20 failed Jobs with three causes, nine stalled Jobs with nine causes, and two Jobs without problems.
var groups = sync.OnceValue(func() explain.ReportList {
	var all []explain.Report
	add := func(name string, n int, change func(i int, f *input.Input)) {
		for i := range n {
			f := inputOf(name)
			f.Job.Namespace, f.Job.Name = "ml", fmt.Sprintf("%s-%d", f.Job.Name, i)
			change(i, &f)
			all = append(all, analysis.Explain(f, explain.Options{}))
		}
	}
	same := func(int, *input.Input) {}
	add("backoff-limit", 14, same)
	add("failed-by-rule", 5, same)
	add("max-failed-indexes", 1, same)
	add("stalled-by-policy", 9, func(i int, f *input.Input) {
		for j := range f.Events {
			f.Events[j].Message = strings.ReplaceAll(f.Events[j].Message, "admission-denied.", fmt.Sprintf("policy-%d.", i))
		}
	})
	add("complete", 1, same)
	add("running-with-policy", 1, same)
	return analysis.List(all)
})
