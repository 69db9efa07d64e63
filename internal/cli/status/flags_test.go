package status

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// threeJobs returns a cluster with the Jobs a, b and c in ns1 with 3, 20 and no succeeded pods; c has no status at
// all.
func threeJobs(t *testing.T) *clitest.API {
	t.Helper()
	c := clitest.SimpleJob("ns1", "c", 0)
	delete(c.Object, "status")
	c.SetLabels(map[string]string{"app": "c", "example.com/team": "ml"})
	return clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 3), clitest.SimpleJob("ns1", "b", 20), c)
}

// Each flag reports an invalid value, and flags that it cannot be combined with.
func TestBadValuesOfListFlags(t *testing.T) {
	program.Rejects(t, threeJobs(t), "status", map[string]string{
		"--sort-by {.a":                      `"{.a" is not a JSONPath of a field, such as .metadata.name`,
		"--sort-by .a[":                      "--sort-by: ",
		"--sort-by .nope":                    "--sort-by .nope: no Job has the field",
		"--sort-by .metadata.name -w":        "--sort-by and --watch cannot be used together",
		"-o custom-columns":                  `"" is not a column`,
		"-o custom-columns=NAME":             `"NAME" is not a column: use custom-columns=HEADER:PATH`,
		"-o custom-columns=NAME:{":           "is not a JSONPath",
		"-L app -o json":                     "omit -o json",
		"--show-labels -o name":              "omit -o name",
		"--field-selector a":                 "--field-selector: ",
		"a --field-selector metadata.name=a": "name cannot be provided when a selector is specified",
	})
}
