package cli

import (
	"strings"
	"testing"
)

// What is for a Git repository is not what an API server rejects (CLI-05: with the place).
func TestCreateOnTheClientChecks_CLI_05(t *testing.T) {
	const typo = "  backofLimit: 3\n"
	for _, c := range []struct {
		text, args, out, errOut string
		code                    int
	}{
		{plainJob, "", "job.batch/a created (dry run)\n", "", exitDone},
		{plainJob + "  backoffLimit: -1\n", "", "", "error: PATH:6:17: the API server would reject this: backoffLimit is -1; use 0 or more\n", exitError},
		{plainJob + "  backoffLimit: -1\n", "-o yaml --validate=ignore", "", "error: PATH:6:17: the API server would reject this: backoffLimit is -1; use 0 or more\n", exitError},
		{plainJob + "  ttlSecondsAfterFinished: 0\n", "", "job.batch/a created (dry run)\n", "", exitDone},
		{plainJob + typo, "", "", "error: PATH:6:16: the API server would reject this: batch/v1 has no field spec.backofLimit; correct the name, or remove it, or use --validate=ignore if your API server knows it\n", exitError},
		{plainJob + typo, "--validate=warn", "job.batch/a created (dry run)\n", "warning: PATH:6:16: batch/v1 has no field spec.backofLimit\n", exitDone},
		{plainJob + typo, "--validate=ignore", "job.batch/a created (dry run)\n", "", exitDone},
	} {
		path := writeManifest(t, c.text)
		got := program.run(t, nil, append([]string{"create", "--dry-run=client", "-f", path}, strings.Fields(c.args)...)...)
		if errOut := strings.ReplaceAll(got.errOut, path, "PATH"); got.code != c.code || got.out != c.out || errOut != c.errOut {
			t.Errorf("%s%s: exit %d, stdout %q, stderr %q", c.text, c.args, got.code, got.out, errOut)
		}
	}
}

// What API servers say about a value of the wrong type has its place, too.
func TestCreateLocatesWrongTypes_CLI_05(t *testing.T) {
	api := newCreations(t)
	api.answer = func(string, map[string]any) *fakeStatus {
		return &fakeStatus{400, "BadRequest", `Job in version "v1" cannot be handled as a Job: json: cannot unmarshal string into Go struct field JobSpec.spec.backoffLimit of type int32`}
	}
	path := writeManifest(t, plainJob+"  backoffLimit: \"3\"\n")
	if got := api.run(t, "-f", path); !strings.HasPrefix(got.errOut, "error: "+path+":6:17: the API server answered: ") {
		t.Errorf("%s", got.errOut)
	}
}
