package meaning

import "github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"

// accessErrors are errors about credentials and permissions.
var accessErrors = []errorRow{
	{
		kind: ErrorAuthentication,
		patterns: []errorPattern{
			{"authentication failed", lazyregexp.New(`(?i)password authentication failed for user "([^"]+)"|authentication failed for '([^']+)'|\bauthentication failed\.`), nil},
			{"access denied for user", lazyregexp.New(`Access denied for user '([^']*)'`), nil},
			{"noauth", lazyregexp.New(`\bNOAUTH Authentication required\b`), nil},
			{"unauthenticated", lazyregexp.New(`\bcode = Unauthenticated\b`), nil},
			{"wrongpass", lazyregexp.New(`\bWRONGPASS\b`), nil},
			{"fatal: could not read", lazyregexp.New(`could not read (?:Username|Password) for '([^']+)'`), nil},
			{"permission denied (", lazyregexp.New(`(\S+@\S+): Permission denied \([a-z,-]+\)`), nil},
			{"401", lazyregexp.New(`(?i)\b401\b.*\bunauthorized(?: for url: (\S+))?|returned error: 401\b`), nil},
			{"unauthorized", lazyregexp.New(`logged in to the server \(Unauthorized\)|(?i:unauthorized: authentication required)`), nil},
			{"an error occurred (", lazyregexp.New(`An error occurred \((ExpiredToken|ExpiredTokenException|InvalidClientTokenId|InvalidAccessKeyId|SignatureDoesNotMatch|UnrecognizedClientException)\)`), nil},
		},
		brief:  "login failed",
		named:  "authentication failed (%s)",
		text:   "authentication failed",
		advice: "check the password, key or token that the container uses, and the Secret that it comes from",
	},
	{
		kind: ErrorNoCredentials,
		patterns: []errorPattern{
			{"credential", lazyregexp.New(`(?i)unable to (?:locate credentials|load credentials from any)|default credentials(?: were not found|\. See)|no valid credential sources|failed to refresh cached credentials|DefaultAzureCredential failed`), nil},
			{"active account", lazyregexp.New(`do not currently have an active account selected`), nil},
			{"az login", lazyregexp.New(`Please run 'az login'`), nil},
		},
		brief:  "no credentials",
		text:   "it found no credentials for its cloud",
		advice: "give the pod a ServiceAccount that has an identity in the cloud (serviceAccountName), or credentials from a Secret",
	},
	{
		kind: ErrorForbidden,
		patterns: []errorPattern{
			{" cannot ", lazyregexp.New(`User "[^"]*" (cannot [a-z]+ resource "[^"]+")`), nil},
			{"authorized to perform", lazyregexp.New(`(?i)\bnot authorized to perform:? ([\w:*-]+)`), nil},
			{"does not have ", lazyregexp.New(`\bdoes not have (\S+) access\b`), nil},
			{"to perform action", lazyregexp.New(`does not have authorization to perform action '([^']+)'`), nil},
			{"an error occurred (", lazyregexp.New(`An error occurred \((?:AccessDenied|AccessDeniedException|403)\) when calling the (\w+) operation: (?:Access Denied|Forbidden)`), nil},
			{"api error accessdenied", lazyregexp.New(`operation error \w+: (\w+), .*\bapi error AccessDenied`), nil},
		},
		brief:  "not permitted",
		named:  "it lacks a permission: %s",
		text:   "it lacks a permission",
		advice: "give the permission to the pod's ServiceAccount, or to the account of its credentials",
	},
}
