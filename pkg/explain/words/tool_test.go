package words_test

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A hook of several moments is run by the command that its user most likely ran.
// Requirements: TOL-03
func TestCommandOfARareMomentIsAdvisedOnlyForHooksWithoutOthers(t *testing.T) {
	for hooks, command := range map[string]string{
		"pre-install,pre-upgrade,pre-rollback": "helm upgrade --install",
		"post-install,test":                    "helm upgrade --install",
		"pre-upgrade,pre-delete":               "helm upgrade --install",
		"pre-rollback":                         "helm rollback",
		"pre-rollback,post-rollback":           "helm rollback",
		"pre-delete,post-delete":               "helm uninstall",
		"test":                                 "helm test",
		"pre-upgrade":                          "helm upgrade",
		"":                                     "helm upgrade --install",
	} {
		tool := &explain.Tool{Name: explain.ToolHelm}
		if hooks != "" {
			tool.Hooks = strings.Split(hooks, ",")
		}
		assert.Contains(t, words.RunToolAgain(tool), "run "+command+" again", hooks)
	}
	assert.Contains(t, words.RunToolAgain(&explain.Tool{Name: explain.ToolArgoCD}), "delete this Job: Argo CD creates it again at the next sync")
}
