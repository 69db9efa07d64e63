package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// accessAsks are phrases of tools that change clusters (kubectl, Helm), and of servers that do not allow what a program asks for.
var accessAsks = []ask{
	{lazyregexp.New(`(violate the pod's disruption budget)`), "find the PodDisruptionBudget that allows no eviction of the pods which the log names (kubectl get pdb -A): give these pods another replica, or the budget more room"},
	{lazyregexp.New(`is unauthorized for user \[([^\]]+)\]|no permissions for \[[^\]]*\] and User \[name=([^,\]]+)`), "give user {1} at {server} a role with one of the privileges that the message names, or have the program log in as another: {credentials}"},
	{lazyregexp.New(`(AuthorizationPermissionMismatch|not authorized to perform this operation using this permission|required permissions needed to perform this operation)`), "assign role Storage Blob Data Contributor at the storage account to the identity with which the program logs in: that of ServiceAccount {account}, or of its credentials ({credentials})"},
	{lazyregexp.New(`(AADSTS700\d+: No matching federated identity)`), "give the identity in Entra ID a federated credential for the issuer of the cluster and subject system:serviceaccount:{namespace}:{account}"},
	{lazyregexp.New(`checking push permission for "([^"]+)"`), "give container {container} credentials that may push {1}: a Secret of type kubernetes.io/dockerconfigjson, as config.json in /kaniko/.docker (now: {credentials})"},
	{lazyregexp.New(`not authorized (?:for \w+ on ([\w.$-]+)|on ([\w.$-]+) to execute command)`), "grant the program's user at {server} a role that allows this on {1} (of MongoDB's own, backup is for mongodump, clusterMonitor for statuses), or have the program log in as a user that has it: {credentials}"},
	{lazyregexp.New(`(the server could not find the requested resource)`), "use a version of the program or its chart that fits the cluster: the one in image {image} asks for an API that this cluster does not serve (kubectl api-versions lists those that it does); or install what defines it, if that is a CustomResourceDefinition"},
	{lazyregexp.New(`(?i)(migration checksum mismatch|checksum mismatch for migration)`), "use an image with the migration as it was when the database got it, or, if its change does no harm, accept it (flyway repair, liquibase clear-checksums): until then, a rerun fails again"},
	{lazyregexp.New(`Dag '?([\w.-]+)'? could not be found`), "have the DAG folder of this pod contain DAG {1} (git-sync, a volume, or image {image}), and its file load without an error (airflow dags list-import-errors)"},
	{lazyregexp.New(`(maintenance must be run by designated user)`), "make the user who runs the maintenance its owner in the repository (kopia maintenance set --owner USER@HOST), which names another one"},
	{lazyregexp.New(`could not read (?:Username|Password) for '([^']+)'`), "give git credentials for {1} ({credentials}), or correct the address of the repository: git is asked for a user name if the repository is private or does not exist"},
	{lazyregexp.New(`(InvalidAccessKeyId|Access Key Id you provided does not exist)`), "check the access key of the program ({credentials}), and the server that it asks: S3 of AWS does not know the key of another provider, whose storage needs its address (--endpoint-url, or variable AWS_ENDPOINT_URL)"},
	{lazyregexp.New(`(\w+ request failed with 403|(?:Unable|Failed|failed|unable) to .*(?:Access Denied|Insufficient permissions to access))`), "have the policy of {object} allow the program's key to list, read and write there, and check key, bucket, endpoint and region ({credentials})"},
	{lazyregexp.New(`(open missing file '[^']*(?:backup|archive)\.info|unable to load info file)`), "create the stanza of pgBackRest first (pgbackrest stanza-create), or correct its name or the repository in {template}"},
	{lazyregexp.New(`namespaces \\?"([^"\\]+)\\?" not found`), "create namespace {1} before, or correct its name in {template}"},
	{lazyregexp.New(`unsupported protocol scheme "([^"]*)"`), "give the program the whole URL of its server, with http:// or https://: {addresses}"},
	{lazyregexp.New(`(?:Failed to (?:copy|sync|ls|lsd)|NOTICE|rclone|source root directory).*(: directory not found$)`), "correct the bucket or the path of {object}, or create what the program copies from it"},
	{lazyregexp.New(`(s3:///|gs:///|s3\.\.amazonaws|Could not parse the bucket name|The specified bucket is not valid|Bucket name contains invalid|Invalid bucket name "")`), "give the program the name of the bucket, or of its region, in the form that it has there: a variable that should have it may be empty, or missing in env of container {container}"},
	{lazyregexp.New(`push of (\S+) rejected: (?:fetch first|non-fast-forward)`), "have the script take over what others have pushed to the branch (git pull --rebase) before its own push: another run or a person pushed first"},
	{lazyregexp.New(`(push of \S+ rejected: .+|not allowed to push code to protected branches)`), "have the server accept the push, by the rules of the branch there, or by more rights for the user or token of the program: {credentials}"},
	{lazyregexp.New(`Permission to (\S+?)(?:\.git)? denied to (\S*\w\]?)`), "let {2} push to {1}, or give the program a token that may: {credentials}"},
	{lazyregexp.New(`(nothing to commit|nothing added to commit)`), "have the script commit only what has changed (git diff --cached --quiet || git commit …): git commit ends with code 1 if nothing has"},
	{lazyregexp.New(`to database '([^']+)' when using LOCK TABLES`), "dump database {1} without locks (mysqldump --single-transaction --skip-lock-tables in the command of container {container}), or grant LOCK TABLES on it to the program's user at {server}"},
	{lazyregexp.New(`(?i)(column_statistics)`), "give mysqldump in container {container} option --column-statistics=0, as its server has no such table, or use an image with the server's own mysqldump; it is {image}"},
	{lazyregexp.New(`user specified as a definer \(([^)]+)\)`), "create user {1} at {server}, or give the views, triggers and procedures that name it as their DEFINER another one"},
	{lazyregexp.New(`(appears to be a text format dump)`), "restore the file with psql -f in the command of container {container}: it is plain SQL, which pg_restore does not read"},
	{lazyregexp.New(`(Peer authentication failed)`), "have the program connect by TCP with a password (-h localhost), or as the system user of the same name: through its socket, the server accepts no other"},
	{lazyregexp.New(`(Multiple head revisions|Conflicting migrations detected)`), "merge the branches of the migrations (alembic merge heads, manage.py makemigrations --merge), and build image {image} with the result"},
	{lazyregexp.New(`(cannot run inside a transaction block|pending trigger events)`), "have the tool run this migration outside of a transaction (goose: -- +goose NO TRANSACTION; Rails: disable_ddl_transaction!; Django: atomic = False; Flyway: executeInTransaction=false)"},
	{lazyregexp.New(`deployment "([^"]+)" exceeded its progress deadline`), "look at the pods of Deployment {1}, which do not become ready (kubectl get pods, in its namespace), or give it a longer progressDeadlineSeconds"},
	{lazyregexp.New(`OCI runtime exec failed.*exec: \\*"([^"\\]+)\\*"`), "use an image with {1} for the container of the other pod in which the program executes its command (kubectl cp needs tar there), or another command"},
	{lazyregexp.New(`(difference between the request time|RequestTimeTooSkewed|clock skew detected)`), "correct the clock of the pod's node or that of the storage server (NTP): they differ too much for the server to accept the signature"},
	{lazyregexp.New(`(AADSTS70002(?:15|22))`), "create a new client secret for the app in Entra ID, and put it into {credentials}"},
	{lazyregexp.New(`file has vanished: "([^"]+)"|tar: (\S+): File removed before we read it|error in Stream: .* src: file: (\S+)|tar: (\S+): file changed as we read it|ERROR : (\S+): .*source file is being updated`), "look whether {1} is still there: if it was removed or changed while the program copied it, leave such files out, copy at a quiet time, or back up a snapshot of the volume"},
	{lazyregexp.New(`x509: (certificate signed by unknown authority)`), "give the program the CA that signed the certificate of its server: it may have it from {configuration}"},
}

// cloudCall matches a request to AWS whose credentials it does not accept, and what the AWS CLI transferred.
var cloudCall = lazyregexp.New(`(?:(\w+ failed): \S+ to (s3://[^/\s]+)\S* )?An error occurred \((ExpiredToken|ExpiredTokenException|InvalidClientTokenId|InvalidAccessKeyId|SignatureDoesNotMatch|UnrecognizedClientException)\)(?: when calling the (\w+) operation)?`)

// vaultRequest matches the request that Vault refuses, with its path.
var vaultRequest = lazyregexp.New(`\bURL: (\w+) https?://[^/\n]+/v1/([^\s\\]+)\s+Code: 403`)

// askedVault is the clue of a request that Vault does not allow: its log has the path in a line of its own.
func askedVault(q *Clue, c *Container) Remedy {
	m := vaultRequest.FindStringSubmatch(escapedEnd.ReplaceAllString(strings.Join(append(slices.Clone(q.Log), q.Words), "\n"), "\n"))
	of, _ := q.server(c)
	switch {
	case m == nil || !strings.Contains(q.Words, "permission"):
		return Remedy{}
	case strings.HasSuffix(m[2], "/login"):
		return Remedy{Text: "have the role of Vault with which the program logs in at " + m[2] + " allow ServiceAccount " + c.account() + " of namespace " + c.Namespace +
			" (bound_service_account_names and bound_service_account_namespaces), and Vault review tokens of this cluster", Server: of.host}
	}
	who := cmp.Or(prefixed("the token of the program, which it has from ", c.credentials()), "the Vault role with which ServiceAccount "+c.account()+" logs in")
	return Remedy{Text: fmt.Sprintf("allow %s (%s) in a policy of %s, or check whether its token is still valid", m[2], cmp.Or(vaultVerbs[m[1]], m[1]), who), Server: of.host}
}

// vaultVerbs are the capabilities of Vault's policies, by the methods of requests.
var vaultVerbs = map[string]string{"GET": "read, or list", "LIST": "list", "PUT": "create and update", "POST": "create and update", "DELETE": "delete"}

// ofAccess returns the remedy for an error about credentials or rights of which a phrase, or the status of the response, says more.
func (e *KnownError) ofAccess(q *Clue, c *Container) (none Remedy) {
	isAccess := slices.Contains([]ErrorKind{ErrorForbidden, ErrorAuthentication}, e.Kind)
	if !isAccess && !slices.Contains([]ErrorKind{ErrorObjectMissing, ErrorCommandNotFound}, e.Kind) || e.Access != (Access{}) {
		return none
	}
	with := &Clue{Words: q.Words + "; " + e.Subject, Log: q.Log}
	for _, clue := range []func(*Clue, *Container) Remedy{askedVault, askedAccess} {
		if out := clue(with, c); out.Text != "" {
			return out
		}
	}
	if isAccess && (e.Subject == "" || e.Subject == vagueForbidden) {
		return responseStatus(with, c)
	}
	return none
}

// ofToken reports whether the error is about the API server, which the program asks at its own pod or without a token.
func (e *KnownError) ofToken(c *Container) bool {
	return e.APIServer && ownPod.MatchString(e.Subject) || c.NoToken && (e.Access.User == anonymous || strings.HasPrefix(e.Subject, tokenDir))
}
