package run

import (
	"net/http"
	"sync"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// configMap is the manifest of a ConfigMap.
func configMap(name string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

// Ctrl-C does not cancel the creation of an object that was sent: the object is deleted, or named if it may exist.
// Requirements: RUN-16
func TestCtrlCDuringTheCreationOfAnotherKind(t *testing.T) {
	for answered, text := range map[bool]string{
		true:  "Deleted configmap/settings.\n",
		false: "error: the ConfigMap may have been created nevertheless; look for it with: kubectl get configmap settings\n",
	} {
		server := newServer(t)
		stored, lingers, noticed := make(chan struct{}), make(chan struct{}), sync.Once{}
		server.answers("configmaps/settings", func(r *http.Request) {
			close(stored)
			if answered {
				<-lingers
				return
			}
			<-r.Context().Done()
		})
		env := clitest.TimerEnv(cleanupTime, func(fire func()) {
			noticed.Do(func() { close(lingers) })
			if !answered {
				go fire()
			}
		})
		s := program.Start(t, server.API, env, "run", "--all-kinds", "-f", clitest.WriteManifest(t, train+configMap("settings")))
		<-stored
		s.Interrupt()
		s.Result().Want(t, cmdutil.ExitInterrupted, "", text)
		want := []string{"create configmaps/settings"}
		if answered {
			want = append(want, "delete configmaps/settings")
		}
		assert.SlicesEqual(t, server.Named(), want)
	}
}
