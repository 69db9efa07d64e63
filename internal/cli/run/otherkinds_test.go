package run

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// configMap is the manifest of a ConfigMap.
func configMap(name string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

const cronJob = "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec: {schedule: '* * * * *', jobTemplate: {spec: {}}}\n"

// Requirements: RUN-16. Charts have Jobs beside other objects.
func TestRunSkipsOtherKinds(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, configMap("settings")+"---\n"+train+cronJob))
	s.WaitErr("train  Running")
	server.finish("train", "Complete", "", nil)
	expect(t, s, cmdutil.ExitDone, "", "skipped 2 objects of other kinds: ConfigMap/settings, CronJob/nightly; create them with --all-kinds\njob.batch/train created\n")
	if got := server.written(); !slices.Equal(got, []string{"POST train"}) {
		t.Errorf("%q", got)
	}
}

// Requirements: RUN-16. What the Job needs is there before it, and nothing is left after --rm.
func TestRunCreatesOtherKindsBeforeTheJob(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, train+configMap("settings")), "--all-kinds", "--rm")
	s.WaitErr("train  Running")
	server.finish("train", "Complete", "", nil)
	expect(t, s, cmdutil.ExitDone, "", "configmap/settings created\njob.batch/train created\n", "Deleted job.batch/train, configmap/settings.\n")
	if got := server.written(); !slices.Equal(got, []string{"POST configmaps/settings", "POST train", "DELETE train", "DELETE configmaps/settings"}) {
		t.Errorf("%q", got)
	}
}

// Requirements: RUN-03, RUN-16
func TestRunCreatesAllKindsOrNone(t *testing.T) {
	server := newServer(t)
	got := program.Run(t, server.API, "run", "--all-kinds", "-f", clitest.WriteManifest(t, train+configMap("a")+configMap("taken")))
	if got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, `job.yaml:15:1: the API server answered: configmaps "taken" already exists`) || !strings.Contains(got.ErrOut, "Deleted configmap/a.\n") {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
	if got := server.written(); !slices.Equal(got, []string{"POST configmaps/a", "POST configmaps/taken", "DELETE configmaps/a"}) {
		t.Errorf("%q", got)
	}
}

// Ctrl-C does not cancel the creation of an object that was sent: the object is deleted, or named if it may exist.
//
// Requirements: RUN-16
func TestCtrlCDuringTheCreationOfAnotherKind(t *testing.T) {
	for answered, text := range map[bool]string{
		true:  "Deleted configmap/settings.\n",
		false: "error: the ConfigMap may have been created nevertheless; look for it with: kubectl get configmap settings\n",
	} {
		server := newServer(t)
		stored, lingers, noticed := make(chan struct{}), make(chan struct{}), sync.Once{}
		server.answers = func(r *http.Request, _ string) {
			close(stored)
			if answered {
				<-lingers
				return
			}
			<-r.Context().Done()
		}
		env := clitest.NewEnv()
		env.Timer = func(d time.Duration, fire func()) func() {
			if d == cleanupTime {
				noticed.Do(func() { close(lingers) })
				if !answered {
					go fire()
				}
			}
			return func() {}
		}
		s := program.Start(t, server.API, env, "run", "--all-kinds", "-f", clitest.WriteManifest(t, train+configMap("settings")))
		<-stored
		s.Interrupt()
		expect(t, s, cmdutil.ExitInterrupted, "", text)
		want := []string{"POST configmaps/settings"}
		if answered {
			want = append(want, "DELETE configmaps/settings")
		}
		if got := server.written(); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	}
}

// Requirements: CLI-61
func TestRunBuildsKustomizations(t *testing.T) {
	server := newServer(t)
	s := server.start("-k", clitest.WriteKustomization(t, train))
	s.WaitErr("prod-train  Running")
	server.finish("prod-train", "Complete", "", nil)
	expect(t, s, cmdutil.ExitDone, "", "job.batch/prod-train created\n")
}
