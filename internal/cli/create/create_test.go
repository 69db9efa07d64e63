package create

import (
	"net/http"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Requirements: PFN-16, PFN-18, PFN-24
func TestCreateRefusesIllegalNames(t *testing.T) {
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: ns9}\n"
	for _, c := range []struct{ text, args, want string }{
		{job + "spec: {podFailurePolicy: {rules: [{name: a-b}, {name: A}, {name: A}]}}", "", "error: PATH:4:42: rule 0 \"a-b\": '-' is not allowed, only letters, digits, '_', ',' and ':'\nerror: PATH:4:66: rule 2 \"A\": rule 1 has the same name\n"},
		{job, "-n other", "error: PATH:3:32: the namespace from the provided object \"ns9\" does not match the namespace \"other\". You must pass '--namespace=ns9' to perform this operation.\n"},
		{"apiVersion: v1\nkind: Service\n", "", "error: PATH:2:7: this command creates only Jobs, CronJobs and JobSets, not a Service of v1; use: kubectl create -f\n"},
		{"apiVersion: batch/v1beta1\nkind: CronJob\n", "", "error: PATH:1:13: batch/v1beta1 is no longer served; write apiVersion: batch/v1, kind: CronJob\n"},
		{"apiVersion: batch/v1\nkind: Job\nspec: {}\n", "", "error: PATH:1:1: metadata has neither name nor generateName\n"},
		{"apiVersion: batch/v1\nkind: job\n", "", "error: PATH:2:7: there is no kind job in batch/v1; write apiVersion: batch/v1, kind: Job\n"},
		{"# nothing\n", "", "error: no Jobs, CronJobs or JobSets in PATH; check the files given with -f\n"},
		{"a: [", "", "error: PATH:1:4: not readable as YAML: \"[\" is not closed; add ]\n"},
		{"apiVersion: v1\nkind: \"\\e[31m\"\n", "", "error: PATH:2:7: this command creates only Jobs, CronJobs and JobSets, not a \\x1b[31m of v1; use: kubectl create -f\n"},
	} {
		program.RunOn(t, c.text, "create", append(strings.Fields(c.args), "--dry-run=client")...).Is(t, cmdutil.ExitError, "", c.want)
	}
	program.Rejects(t, nil, "create", map[string]string{
		"": "name a file with -f", "-f a --dry-run=all": "--dry-run=all: must be none, client or server", "-f a --validate=no": "--validate=no: must be strict, warn or ignore",
		"-f a --managed-by=x": "--managed-by: ", "-f a -o nice": `unknown output format "nice"`, "a": `unexpected argument "a"`, "-f a -o jsonpath={": "-o jsonpath={: ",
		"-f a --dry-run=client -n A_b": "namespace \"A_b\": use at most 63 lowercase letters", "-f a -n a.b": "namespace \"a.b\": use at most 63",
	})
}

// Requirements: RUN-17, RUN-18
func TestWrongUseOfFromIsAUsageError(t *testing.T) {
	program.Rejects(t, nil, "create", map[string]string{
		"--from nightly":                           "--from=nightly: use job/NAME or cronjob/NAME",
		"--from pod/x":                             "--from=pod/x: use job/NAME or cronjob/NAME",
		"--from cronjob/":                          "--from=cronjob/: use job/NAME or cronjob/NAME",
		"--from cronjob/nightly -f x.yaml":         "only one of -f, -k and --from can be used",
		"--from cronjob/nightly x":                 `unexpected argument "x"; put arguments of the container after --`,
		"--from cronjob/nightly --command":         "--command needs a command after --",
		"--from cronjob/nightly --name A_b":        "--name=A_b: use at most 63 lowercase letters",
		"--from cronjob/nightly --limits memory=x": "memory=x is not a quantity",
		"-f x.yaml --image y":                      "--image changes the copy of a Job; use it with --from job/NAME or --from cronjob/NAME",
		"-k a -f b":                                "only one of -f and -k can be used",
		"-k a -R":                                  "-R cannot be used with -k",
		"":                                         "or a kustomization with -k",
	})
}

// Requirements: RUN-17
func TestANameThatIsTooLongIsCut(t *testing.T) {
	for _, name := range []string{strings.Repeat("a", 50) + ".b", strings.Repeat("a", 63)} {
		api := clitest.NewWrites(t, clitest.SimpleJob("ns1", name, 0))
		got := program.Run(t, api.API, "create", "--from", "job/"+name)
		if made, _, _ := strings.Cut(strings.TrimPrefix(got.Out, "job.batch/"), " "); got.Code != cmdutil.ExitDone || len(made) > 63 || strings.Contains(made, ".") {
			t.Errorf("%s: exit %d, %q, %q", name, got.Code, got.Out, got.ErrOut)
		}
	}
}

func TestCreateIsInterrupted(t *testing.T) {
	api, came := clitest.NewWrites(t), make(chan struct{})
	api.Around = func(_ string, r *http.Request, _ func()) {
		close(came)
		<-r.Context().Done()
	}
	s := program.Start(t, api.API, clitest.NewEnv(), "create", "-f", clitest.WriteManifest(t, clitest.PlainJob))
	<-came
	s.Interrupt()
	assert.Equal(t, s.End(), cmdutil.ExitInterrupted)
}

func TestCreateFlagsAreCompleted(t *testing.T) {
	program.Completes(t, nil, map[string]string{
		"create|-k|": " :16", "create|--dry-run|c": "client :4", "lint|-o|": "json yaml sarif :4", "create|--validate=w": "warn :4",
		"create|-o|js": "json jsonpath jsonpath-as-json jsonpath-file :4",
	})
}
