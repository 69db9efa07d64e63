// Package cmdutil holds the code that the verbs share: environment, errors and exit codes, flags that choose Jobs,
// clients, completion.
//
// Only this package and package view read the environment, and only Env reads the clock. ExplainError turns any error
// into one safe line that says what happened and what to do.
//
// To reach the cluster, a verb takes the first of these that has what it needs:
//
//	Env.KubeFlags   the flags of a verb that connects: always this one; NewKubeFlags is for verbs with a connection of their own
//	OpenJobs        Jobs that the flags choose, and an Explainer for them
//	NewJobSet       these Jobs, and the configuration for other clients
//	NewJobsClient   all Jobs, given a configuration; like the two above, it keeps fields that this program does not know
//	NewExplainer    pods, events, logs and all else that explains a Job, in protobuf, given a configuration
//	RESTConfig      the configuration alone, for kube.NewForConfig: verbs that write, completion, the controller
package cmdutil
