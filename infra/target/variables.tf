variable "name" {
  description = "The names of the roles begin with it."
  type        = string
  default     = "lockstep"
}

variable "plan_function_role_arn" {
  description = "The ARN of the plan function's role: template.yaml's output PlanRoleArn."
  type        = string
}

variable "apply_function_role_arn" {
  description = "The ARN of the apply function's role: template.yaml's output ApplyRoleArn."
  type        = string
}

variable "external_id" {
  description = "What the functions have to know besides: template.yaml's parameter ExternalId."
  type        = string
  sensitive   = true

  validation {
    condition     = length(var.external_id) >= 16
    error_message = "An external ID that is short can be guessed: 16 characters at least."
  }
}

variable "repositories" {
  description = "The repositories, OWNER/NAME, whose pull requests may have the roles."
  type        = list(string)

  validation {
    condition     = length(var.repositories) > 0 && alltrue([for r in var.repositories : can(regex("^[^/*?]+/[^/*?]+$", r))])
    error_message = "Each repository is OWNER/NAME, without wildcards, and there is one at least."
  }
}

variable "plan_policy_arns" {
  description = "What planning may do, as ARNs of policies. It should be reading only."
  type        = set(string)
  default     = ["arn:aws:iam::aws:policy/ReadOnlyAccess"]
}

variable "plan_denied_actions" {
  description = "What planning may not do, whatever its policies say: reading what holds secrets. Leave out what providers need to read their own resources, such as `ssm:GetParameter*` for parameters."
  type        = list(string)
  default = [
    "dynamodb:BatchGetItem",
    "dynamodb:GetItem",
    "dynamodb:Query",
    "dynamodb:Scan",
    "kms:Decrypt",
    "s3:GetObject*",
    "secretsmanager:GetSecretValue",
    "sqs:ReceiveMessage",
    "ssm:GetParameter*",
    "sts:AssumeRole",
  ]
}

variable "apply_policy_arns" {
  description = "What applying may do, as ARNs of policies: as little as the configurations need."
  type        = set(string)
}

variable "permissions_boundary_arn" {
  description = "The ARN of a policy that both roles stay within; null for none."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the roles."
  type        = map(string)
  default     = {}
}
