package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6: the real binary in a real terminal on the real control plane: the list, a filter, a Job with its map, zoom,
// explanation, a pod with its logs, a smaller and a larger terminal, a snapshot file; at the end the terminal is
// restored, and shows the last picture.
func TestWatchInATerminal(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, "index-3-retries.yaml")
	apply(t, ns, "over-backoff-limit.yaml")
	job := apply(t, ns, "stories/kep-3850-story-2-no-retry-for-exit-code-42.yaml")
	finished(t, ns, job.Name)
	term := openTerminal(t, 130, 30)
	term.run("batchjob watch -n " + ns)
	term.Shows("Jobs", "index-three-retries", "over-backoff-limit", job.Name, "? help")
	term.Press("/")
	term.Write("suites")
	if strings.Contains(job.Name, "suites") {
		term.Shows(job.Name)
	}
	term.Press("C-u")
	term.Write(job.Name)
	term.Press("Enter")
	eventually(t, "the filter to leave one Job", func(context.Context) (bool, error) {
		screen := term.Screen()
		return strings.Contains(screen, job.Name) && !strings.Contains(screen, "over-backoff-limit"), nil
	})
	term.Press("Enter")
	term.Shows("Failed", "FailedIndexes", "1 Overview", "6 Timeline")
	term.Press("2")
	term.Shows("2 Indexes", "1 failed")
	// The map of ten indexes fits; zooming out puts several into one cell, and zooming in reverts it.
	term.Press("-")
	term.Press("0")
	term.Press("n")
	term.Shows("Index 4")
	term.Press("e")
	term.Shows("Explain", "42")
	term.Press("Escape")
	term.Shows("2 Indexes", "Index 4")
	term.Press("5")
	term.Shows("5 Pods")
	term.Press("Enter")
	term.Shows("exit code")
	term.Press("l")
	term.Shows("Logs")

	for _, at := range [][2]int{{60, 20}, {160, 50}} {
		term.resize(at[0], at[1])
		term.Shows("Logs", "? help")
	}
	term.Press("w")
	term.Shows("write to: ")
	term.Press("Enter")
	term.Shows("written to batchjob-" + ns + "-" + job.Name)
	written, err := filepath.Glob(filepath.Join(term.dir, "batchjob-*.json"))
	if err != nil || len(written) != 1 {
		t.Fatalf("files written: %v, %v", written, err)
	}
	var snapshot struct{ Kind string }
	if data, err := os.ReadFile(written[0]); err != nil || json.Unmarshal(data, &snapshot) != nil || snapshot.Kind != "WatchSnapshot" {
		t.Errorf("%s holds %s, %v", written[0], data, err)
	}
	assert.Contains(t, term.state(), "alternate=1", "while it runs the terminal")
	term.leave("q", "q", "q")
	term.run("echo code $?")
	term.Shows("code 0", "3 Jobs in namespace "+ns, job.Name)
	term.restored()
}

// Issue 18: R retries the failed index of a Job, and the view switches to the new Job; with --read-only there is no such
// key.
// Requirements: RTY-30, RTY-32, RTY-34
func TestRetryInATerminal(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	job := apply(t, ns, "stories/kep-3850-story-2-no-retry-for-exit-code-42.yaml")
	finished(t, ns, job.Name)
	term := openTerminal(t, 100, 30)
	term.run("batchjob watch " + job.Name + " --read-only -n " + ns)
	term.Shows("FailedIndexes", "e explain")
	assert.NotContains(t, term.Screen(), "R retry", "--read-only offers to retry")
	term.leave("q")
	term.fresh("batchjob watch " + job.Name + " -n " + ns)
	term.Shows("FailedIndexes", "R retry")
	term.Press("R")
	term.Shows(job.Name+"-retry-1", "It runs index 4", "1 to run")
	term.Press("Enter")
	term.Shows("which runs 1 index? y/N")
	term.Press("y")
	term.Shows(ns+"/"+job.Name+"-retry-1", "1 Overview")
	finished(t, ns, job.Name+"-retry-1")
	term.Shows("FailedIndexes", "1 index failed")
	term.leave("q", "q")
	term.restored()
}

// Issue 6: `status NAME` and `why NAME` are interactive on a terminal and follow the Job; without a
// terminal, they print.
func TestInteractiveVerbs(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	job := apply(t, ns, "over-backoff-limit.yaml")
	term := openTerminal(t, 80, 24)
	term.run("batchjob status over-backoff-limit -n " + ns)
	term.Shows("1 Overview", "over-backoff-limit")
	finished(t, ns, job.Name)
	term.Shows("✗ Failed  BackoffLimitExceeded")
	term.leave("q")
	term.Shows("over-backoff-limit failed after", "backoffLimit 1 allows 1 retry")
	term.fresh("batchjob why over-backoff-limit -n " + ns)
	term.Shows("Explain", "over-backoff-limit failed after")
	term.leave("q")
	term.fresh("batchjob status over-backoff-limit --interactive=false -n " + ns + "; echo code $?")
	term.Shows("Run by", "code 0")
	term.restored()
}

// Issue 6: --exit-status ends with the Job, in the view too; SIGTERM and Ctrl-C restore the terminal and leave the last
// picture.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, "over-backoff-limit.yaml")
	stuck := apply(t, ns, "stalls/suspended.yaml", func(j *batchv1.Job) { j.Name = "suspended" })
	term := openTerminal(t, 80, 24)
	term.run("batchjob watch over-backoff-limit --exit-status -n " + ns + "; echo code $?")
	term.Shows("Container worker exited with code 1", "code 3")
	term.restored()

	for _, end := range []struct {
		name string
		do   func()
		code string
	}{
		{"Ctrl-C", func() { term.Press("C-c") }, "code 130"},
		{"SIGTERM", func() { signal(t, term, syscall.SIGTERM) }, "code 143"},
	} {
		term.fresh("batchjob watch " + stuck.Name + " -n " + ns + "; echo code $?")
		term.Shows("1 Overview", "Suspended")
		end.do()
		term.Shows(end.code, stuck.Name+" is suspended")
		term.restored()
	}
}

// signal sends a signal to the program in the terminal.
func signal(t *testing.T, term *terminal, s syscall.Signal) {
	t.Helper()
	term.t.Helper()
	shell := strings.TrimSpace(term.Command("display-message", "-p", "#{pane_pid}"))
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	assert.NoError(t, err)
	for _, file := range entries {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // The process has ended.
		}
		// PID (NAME) STATE PPID …
		name, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == shell && strings.Contains(name, "(kubectl-batchj") {
			pid, err := os.FindProcess(atoi(t, strings.Fields(name)[0]))
			assert.NoError(t, err)
			assert.NoError(t, pid.Signal(s))
			return
		}
	}
	t.Fatal("the program does not run")
}

// Issue 6.5: a recording is played in a terminal without a cluster.
func TestReplayInATerminal(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	job := apply(t, ns, "indexed-10.yaml")
	term := openTerminal(t, 80, 24)
	term.run("batchjob watch " + job.Name + " --exit-status --record tape.jsonl -n " + ns + "; echo code $?")
	term.Shows("10 of 10 indexes succeeded", "code 0")
	term.fresh("KUBECONFIG=/nowhere batchjob watch --from tape.jsonl --speed 20; echo code $?")
	term.Shows("end of the recording", "Complete", "100%")
	term.Press("q")
	term.Shows("code 0")
	term.restored()
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	assert.NoError(t, err)
	return n
}
