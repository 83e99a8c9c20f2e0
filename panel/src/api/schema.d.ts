// Generated from docs/openapi.json by `npm run schema`; sha256 a4360adaa6b86a1a02ccaaac2410a9b169c692bbe4726edce18ce034aeedeb36

export interface paths {
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["livez"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBillingAccounts"];
        put?: never;
        post: operations["createBillingAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getBillingAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["updateBillingAccount"];
        trace?: never;
    };
    "/v1/billing/accounts/{account}/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountBudgets"];
        put?: never;
        post: operations["createAccountBudget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/budgets/{budget}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountBudget"];
        put?: never;
        post?: never;
        delete: operations["deleteAccountBudget"];
        options?: never;
        head?: never;
        patch: operations["updateAccountBudget"];
        trace?: never;
    };
    "/v1/billing/accounts/{account}/cloud-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountCloudEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/credits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountCredits"];
        put?: never;
        post: operations["grantCredit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/dunning": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getDunning"];
        put: operations["setDunning"];
        post?: never;
        delete: operations["endDunning"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["streamAccountEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/export-limit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountExportLimit"];
        put: operations["setAccountExportLimit"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/export-schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountExportSchedules"];
        put?: never;
        post: operations["createAccountExportSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/export-schedules/{schedule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteAccountExportSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountExports"];
        put?: never;
        post: operations["createAccountExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/exports/{export}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/exports/{export}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["downloadAccountExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountInvitations"];
        put?: never;
        post: operations["createAccountInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/invitations/{invitation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revokeAccountInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/invitations/{invitation}:renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["renewAccountInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountInvoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/members/{member}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["removeAccountMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/payment-method": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPaymentMethod"];
        put: operations["setPaymentMethod"];
        post?: never;
        delete: operations["removePaymentMethod"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPayments"];
        put?: never;
        post: operations["recordPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/payments/{payment}:fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["failPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/prepaid": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPrepaid"];
        put: operations["setPrepaid"];
        post?: never;
        delete: operations["endPrepaid"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/prepaid/top-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["setTopUp"];
        post?: never;
        delete: operations["endTopUp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/refunds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["recordRefund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/s3-connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountS3Connections"];
        put?: never;
        post: operations["createAccountS3Connection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/s3-connections/{connection}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountS3Connection"];
        put?: never;
        post?: never;
        delete: operations["deleteAccountS3Connection"];
        options?: never;
        head?: never;
        patch: operations["updateAccountS3Connection"];
        trace?: never;
    };
    "/v1/billing/accounts/{account}/s3-connections/{connection}:test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["testAccountS3Connection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountWebhooks"];
        put?: never;
        post: operations["createAccountWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/webhooks/{webhook}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountWebhook"];
        put?: never;
        post?: never;
        delete: operations["deleteAccountWebhook"];
        options?: never;
        head?: never;
        patch: operations["updateAccountWebhook"];
        trace?: never;
    };
    "/v1/billing/accounts/{account}/webhooks/{webhook}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/webhooks/{webhook}/deliveries/{delivery}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/webhooks/{webhook}/deliveries/{delivery}:redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["redeliverToAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/webhooks/{webhook}:ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["pingAccountWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{account}/webhooks/{webhook}:rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateAccountWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/invoices/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountInvoice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/invoices/{number}/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccountInvoiceProof"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/invoices/{number}:credit-note": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["issueCreditNote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/price-corrections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPriceCorrections"];
        put?: never;
        post: operations["correctPrice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/price-corrections:preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["previewPriceCorrection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readPriceBook"];
        put?: never;
        post: operations["addPrices"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/prices/{price}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["withdrawPrice"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/proof-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listProofKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/seller": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSeller"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["updateSeller"];
        trace?: never;
    };
    "/v1/billing/tax-rates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaxRates"];
        put?: never;
        post: operations["addTaxRate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEventTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/flavors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listFlavors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/flavors/{flavor}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getFlavor"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hardware/ipus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listIpus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hardware/machines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMachineTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listImages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations:accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations:show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["showInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["logIn"];
        delete: operations["logOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["beginDeviceLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login/devices:approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["approveDeviceLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login/devices:deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["denyDeviceLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login/devices:show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["showDeviceLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login/devices:token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["fetchDeviceToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getNotifications"];
        put: operations["replaceNotifications"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["changePassword"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAllAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/cleanings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCleanings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/cloud-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOperatorCloudEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/clusters/{cluster}:force-delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["forceDeleteCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/controllers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listControllers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOperatorEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["streamOperatorEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/fault-reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAllFaultReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/fault-reports/{fault_report}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAnyFaultReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/fault-reports/{fault_report}:confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["confirmFaultReport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/fault-reports/{fault_report}:dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["dismissFaultReport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/freezes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listFreezes"];
        put?: never;
        post: operations["startFreeze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/freezes/{freeze}:end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["endFreeze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/hardware-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listHardwareEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/hardware:drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["drainHardware"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/hardware:maintenance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["startMaintenance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/hardware:quarantine": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["quarantineHardware"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/hardware:return-to-service": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["returnToService"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/hardware:validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["validateHardware"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/health-reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listHealthReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/health-reports/{report}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHealthReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/health-reports/{report}:clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["clearHealthReport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listHardwareHosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/hosts/{host}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHardwareHost"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/hosts/{host}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHostHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/inventory-findings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listInventoryFindings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/machines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listHardwareMachines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/machines/{machine}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHardwareMachine"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/machines/{machine}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMachineHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/observations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listObservations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAllOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/pods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPods"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/quota-requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAllQuotaRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/quota-requests/{quota_request}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAnyQuotaRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/quota-requests/{quota_request}:decline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["declineQuotaRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/quota-requests/{quota_request}:grant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["grantQuotaRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/regions/{region}/capacity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getOperatorCapacity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/regions/{region}/defragmentation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getDefragmentation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/regions/{region}/expected-inventory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listExpectedHardware"];
        put: operations["replaceExpectedInventory"];
        post?: never;
        delete: operations["deleteExpectedInventory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/regions/{region}/expected-inventory:accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["acceptShownHardware"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/requests/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRequestTrace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/simulated-faults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSimulatedFaults"];
        put?: never;
        post: operations["createSimulatedFault"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/simulated-faults/{simulated_fault}:end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["endSimulatedFault"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/site-findings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSiteFindings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/stuck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listStuck"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/validations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listValidations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/what-is/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["whatIs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/work": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWork"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/work/{kind}/{item}:park": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["parkWork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/work/{kind}/{item}:requeue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["requeueWork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPrices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listProjects"];
        put?: never;
        post: operations["createProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProject"];
        put?: never;
        post?: never;
        delete: operations["deleteProject"];
        options?: never;
        head?: never;
        patch: operations["updateProject"];
        trace?: never;
    };
    "/v1/projects/{project}/addresses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAddresses"];
        put?: never;
        post: operations["createAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/addresses/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAddress"];
        put?: never;
        post?: never;
        delete: operations["deleteAddress"];
        options?: never;
        head?: never;
        patch: operations["updateAddress"];
        trace?: never;
    };
    "/v1/projects/{project}/addresses/{address}:attach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["attachAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/addresses/{address}:detach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["detachAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProjectAccount"];
        put: operations["assignProjectAccount"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/credits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCredits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/export-limit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExportLimit"];
        put: operations["setExportLimit"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/export-schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listExportSchedules"];
        put?: never;
        post: operations["createExportSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/export-schedules/{schedule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteExportSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listExports"];
        put?: never;
        post: operations["createExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/exports/{export}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/exports/{export}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["downloadExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/funds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProjectFunds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listInvoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/invoices/draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoiceDraft"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/invoices/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/invoices/{number}/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoiceProof"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProjectReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProjectSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/top-ups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["topUpWallet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/billing/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getBillingUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBudgets"];
        put?: never;
        post: operations["createBudget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/budgets/{budget}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getBudget"];
        put?: never;
        post?: never;
        delete: operations["deleteBudget"];
        options?: never;
        head?: never;
        patch: operations["updateBudget"];
        trace?: never;
    };
    "/v1/projects/{project}/cloud-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCloudEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listClusters"];
        put?: never;
        post: operations["createCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCluster"];
        put?: never;
        post?: never;
        delete: operations["deleteCluster"];
        options?: never;
        head?: never;
        patch: operations["updateCluster"];
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/charges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCharges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listJobs"];
        put?: never;
        post: operations["createJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/jobs/{job}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/jobs/{job}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getJobLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/jobs/{job}:stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["stopJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/machines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMachines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/machines/{machine}:report-fault": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["reportMachineFault"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getClusterMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/partitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPartitions"];
        put?: never;
        post: operations["createPartition"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/partitions/{partition}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPartition"];
        put?: never;
        post?: never;
        delete: operations["removePartition"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/partitions/{partition}/ipuof-config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPartitionConfig"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/partitions/{partition}:reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resetPartition"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/poplar-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPoplarServers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/poplar-servers/{poplar_server}/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getConsole"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/poplar-servers/{poplar_server}:report-fault": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["reportServerFault"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listServices"];
        put?: never;
        post: operations["createService"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/services/{service}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getService"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/services/{service}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getServiceLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/services/{service}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getServiceMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/services/{service}:stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["stopService"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/topology": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTopology"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getClusterUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/vipu": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVipu"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}/vipu:rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateVipuKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:estimate-resize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["estimateClusterResize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:power-cycle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["powerCycleCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:reboot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rebootCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:rebuild": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rebuildCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:repair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["repairCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:reschedule-repair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rescheduleRepair"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:resize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resizeCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resumeCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:sign-ssh-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["signSshKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters/{cluster}:suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["suspendCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/clusters:estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["estimateCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/fault-reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listFaultReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/fault-reports/{fault_report}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getFaultReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listInvitations"];
        put?: never;
        post: operations["createInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/invitations/{invitation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revokeInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/invitations/{invitation}:renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["renewInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/members/{member}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        patch: operations["updateMember"];
        trace?: never;
    };
    "/v1/projects/{project}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProjectMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/operations/{operation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getOperation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/operations/{operation}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancelOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listProjectPrices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/quota-requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listQuotaRequests"];
        put?: never;
        post: operations["createQuotaRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/quota-requests/{quota_request}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getQuotaRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/quota-requests/{quota_request}:withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["withdrawQuotaRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listQuotas"];
        put: operations["replaceQuotas"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/reservations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listReservations"];
        put?: never;
        post: operations["createReservation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/reservations/{reservation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getReservation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/reservations/{reservation}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancelReservation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/reservations:estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["estimateReservation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/s3-connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listS3Connections"];
        put?: never;
        post: operations["createS3Connection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/s3-connections/{connection}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getS3Connection"];
        put?: never;
        post?: never;
        delete: operations["deleteS3Connection"];
        options?: never;
        head?: never;
        patch: operations["updateS3Connection"];
        trace?: never;
    };
    "/v1/projects/{project}/s3-connections/{connection}:test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["testS3Connection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSnapshots"];
        put?: never;
        post: operations["createSnapshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/snapshots/{snapshot}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSnapshot"];
        put?: never;
        post?: never;
        delete: operations["deleteSnapshot"];
        options?: never;
        head?: never;
        patch: operations["updateSnapshot"];
        trace?: never;
    };
    "/v1/projects/{project}/ssh-authority": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSshAuthority"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/ssh-authority:rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateSshAuthority"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/ssh-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSshKeys"];
        put?: never;
        post: operations["createSshKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/ssh-keys/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSshKey"];
        put?: never;
        post?: never;
        delete: operations["deleteSshKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTokens"];
        put?: never;
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/tokens/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getToken"];
        put?: never;
        post?: never;
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/tokens/{token}:rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProjectUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/volumes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listVolumes"];
        put?: never;
        post: operations["createVolume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/volumes/{volume}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVolume"];
        put?: never;
        post?: never;
        delete: operations["deleteVolume"];
        options?: never;
        head?: never;
        patch: operations["updateVolume"];
        trace?: never;
    };
    "/v1/projects/{project}/volumes/{volume}:attach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["attachVolume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/volumes/{volume}:detach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["detachVolume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/volumes/{volume}:resize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resizeVolume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhooks"];
        put?: never;
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/webhooks/{webhook}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/v1/projects/{project}/webhooks/{webhook}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/webhooks/{webhook}/deliveries/{delivery}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/webhooks/{webhook}/deliveries/{delivery}:redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/webhooks/{webhook}:ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["pingWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project}/webhooks/{webhook}:rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recipes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRecipes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recipes/{recipe}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRecipe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/regions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRegions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/regions/{region}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRegion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/regions/{region}/capacity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRegionCapacity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSession"];
        put?: never;
        post: operations["signIn"];
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createSignInLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/membership": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["switchSession"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sign-in-providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSignInProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sign-in-providers/{provider}/sign-ins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["beginProviderSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPlatformTokens"];
        put?: never;
        post: operations["createPlatformToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPlatformToken"];
        put?: never;
        post?: never;
        delete: operations["revokePlatformToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{token}:rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotatePlatformToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["whoami"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "account.export_limit_updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ExportLimitOf"];
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.export_limit_updated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.funds_exhausted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["FundsLeft"];
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.funds_exhausted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.funds_low": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["FundsLow"];
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.funds_low";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.funds_restored": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["FundsLeft"];
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.funds_restored";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.restricted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AccountRestricted"];
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.restricted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.restriction_lifted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.restriction_lifted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.top_up_paused": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["TopUpPaused"];
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.top_up_paused";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.top_up_requested": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["TopUpOf"];
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.top_up_requested";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.top_up_resumed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.top_up_resumed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.topped_up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["TopUpOf"];
                            /** @enum {unknown} */
                            subject_type?: "account";
                        };
                        /** @constant */
                        type?: "account.topped_up";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "address.attached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AddressAttachedTo"];
                            /** @enum {unknown} */
                            subject_type?: "address";
                        };
                        /** @constant */
                        type?: "address.attached";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "address.available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AddressOf"];
                            /** @enum {unknown} */
                            subject_type?: "address";
                        };
                        /** @constant */
                        type?: "address.available";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "address.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AddressOf"];
                            /** @enum {unknown} */
                            subject_type?: "address";
                        };
                        /** @constant */
                        type?: "address.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "address.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AddressOf"];
                            /** @enum {unknown} */
                            subject_type?: "address";
                        };
                        /** @constant */
                        type?: "address.deleted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "address.detached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AddressAttachedTo"];
                            /** @enum {unknown} */
                            subject_type?: "address";
                        };
                        /** @constant */
                        type?: "address.detached";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "address.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AddressFailed"];
                            /** @enum {unknown} */
                            subject_type?: "address";
                        };
                        /** @constant */
                        type?: "address.failed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "address.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AddressOf"];
                            /** @enum {unknown} */
                            subject_type?: "address";
                        };
                        /** @constant */
                        type?: "address.updated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "audit.repaired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AuditRepair"];
                        };
                        /** @constant */
                        type?: "audit.repaired";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "budget";
                        };
                        /** @constant */
                        type?: "budget.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "budget";
                        };
                        /** @constant */
                        type?: "budget.deleted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.forecast_reached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["BudgetReached"];
                            /** @enum {unknown} */
                            subject_type?: "budget";
                        };
                        /** @constant */
                        type?: "budget.forecast_reached";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.threshold_reached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["BudgetReached"];
                            /** @enum {unknown} */
                            subject_type?: "budget";
                        };
                        /** @constant */
                        type?: "budget.threshold_reached";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "budget";
                        };
                        /** @constant */
                        type?: "budget.updated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.active";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterRequested"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.degraded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterDegraded"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.degraded";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.delete_forced": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["DeleteForced"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.delete_forced";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.deleted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.deleting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.deleting";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.error": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.error";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.expiring": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterExpires"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.expiring";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.hardware_isolated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["HardwareFailed"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.hardware_isolated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.hardware_replaced": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["HardwareFailed"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.hardware_replaced";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.idle_suspended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["SuspendedIdle"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.idle_suspended";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.preempted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterPreempted"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.preempted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.preemption_scheduled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PreemptionScheduled"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.preemption_scheduled";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.preemption_withdrawn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PreemptionWithdrawn"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.preemption_withdrawn";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.rebooting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.rebooting";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.rebuilding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.rebuilding";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.recovered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.recovered";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.repair_ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["RepairEnded"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.repair_ended";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.repair_scheduled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["RepairScheduled"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.repair_scheduled";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.repair_started": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["RepairStarted"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.repair_started";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.repair_waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["RepairWaits"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.repair_waiting";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.resized": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterResized"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.resized";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.resizing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.resizing";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.resuming": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.resuming";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.schedule_missed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ScheduleMisses"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.schedule_missed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.schedule_started": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ScheduleStarts"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.schedule_started";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.schedule_waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ScheduleWaits"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.schedule_waiting";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.servers_rebuilt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ServersRebuilt"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.servers_rebuilt";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.suspend_forced": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ForcedSuspend"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.suspend_forced";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.suspended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.suspended";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.suspending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterEntered"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.suspending";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cluster.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ClusterChanged"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "cluster.updated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credit_note.issued": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["CreditNoteNumbered"];
                            /** @enum {unknown} */
                            subject_type?: "credit_note";
                        };
                        /** @constant */
                        type?: "credit_note.issued";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "fault_report.closed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["FaultReported"];
                            /** @enum {unknown} */
                            subject_type?: "fault_report";
                        };
                        /** @constant */
                        type?: "fault_report.closed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "fault_report.confirmed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["FaultReported"];
                            /** @enum {unknown} */
                            subject_type?: "fault_report";
                        };
                        /** @constant */
                        type?: "fault_report.confirmed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "fault_report.dismissed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["FaultReported"];
                            /** @enum {unknown} */
                            subject_type?: "fault_report";
                        };
                        /** @constant */
                        type?: "fault_report.dismissed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "fault_report.opened": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["FaultReported"];
                            /** @enum {unknown} */
                            subject_type?: "fault_report";
                        };
                        /** @constant */
                        type?: "fault_report.opened";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "fault_report.repaired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["FaultReported"];
                            /** @enum {unknown} */
                            subject_type?: "fault_report";
                        };
                        /** @constant */
                        type?: "fault_report.repaired";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.issued": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["InvoiceNumbered"];
                            /** @enum {unknown} */
                            subject_type?: "invoice";
                        };
                        /** @constant */
                        type?: "invoice.issued";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.overdue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["InvoiceOverdue"];
                            /** @enum {unknown} */
                            subject_type?: "invoice";
                        };
                        /** @constant */
                        type?: "invoice.overdue";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "job.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["JobEnded"];
                            /** @enum {unknown} */
                            subject_type?: "job";
                        };
                        /** @constant */
                        type?: "job.failed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "job.queued": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["JobOf"];
                            /** @enum {unknown} */
                            subject_type?: "job";
                        };
                        /** @constant */
                        type?: "job.queued";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "job.retried": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["JobEnded"];
                            /** @enum {unknown} */
                            subject_type?: "job";
                        };
                        /** @constant */
                        type?: "job.retried";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "job.started": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["JobOf"];
                            /** @enum {unknown} */
                            subject_type?: "job";
                        };
                        /** @constant */
                        type?: "job.started";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "job.stopped": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["JobEnded"];
                            /** @enum {unknown} */
                            subject_type?: "job";
                        };
                        /** @constant */
                        type?: "job.stopped";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "job.succeeded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["JobEnded"];
                            /** @enum {unknown} */
                            subject_type?: "job";
                        };
                        /** @constant */
                        type?: "job.succeeded";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "maintenance.announced": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["MaintenanceOf"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "maintenance.announced";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "member.invited": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["MemberOf"];
                            /** @enum {unknown} */
                            subject_type?: "invitation";
                        };
                        /** @constant */
                        type?: "member.invited";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "member.joined": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["MemberOf"];
                            /** @enum {unknown} */
                            subject_type?: "member";
                        };
                        /** @constant */
                        type?: "member.joined";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "member.removed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["MemberRemoved"];
                            /** @enum {unknown} */
                            subject_type?: "member";
                        };
                        /** @constant */
                        type?: "member.removed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "member.role_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["MemberRoleChanged"];
                            /** @enum {unknown} */
                            subject_type?: "member";
                        };
                        /** @constant */
                        type?: "member.role_changed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "operation.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["OperationOf"];
                            /** @enum {unknown} */
                            subject_type?: "cluster" | "export";
                        };
                        /** @constant */
                        type?: "operation.cancelled";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "operation.cancelling": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["OperationOf"];
                            /** @enum {unknown} */
                            subject_type?: "cluster" | "export";
                        };
                        /** @constant */
                        type?: "operation.cancelling";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "operation.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["OperationOf"];
                            /** @enum {unknown} */
                            subject_type?: "cluster" | "export";
                        };
                        /** @constant */
                        type?: "operation.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "operation.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["OperationOf"];
                            /** @enum {unknown} */
                            subject_type?: "cluster" | "export";
                        };
                        /** @constant */
                        type?: "operation.failed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "operation.succeeded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["OperationOf"];
                            /** @enum {unknown} */
                            subject_type?: "cluster" | "export";
                        };
                        /** @constant */
                        type?: "operation.succeeded";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "partition.active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PartitionOf"];
                            /** @enum {unknown} */
                            subject_type?: "partition";
                        };
                        /** @constant */
                        type?: "partition.active";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "partition.creating": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PartitionOf"];
                            /** @enum {unknown} */
                            subject_type?: "partition";
                        };
                        /** @constant */
                        type?: "partition.creating";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "partition.error": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PartitionOf"];
                            /** @enum {unknown} */
                            subject_type?: "partition";
                        };
                        /** @constant */
                        type?: "partition.error";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "partition.missing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PartitionOf"];
                            /** @enum {unknown} */
                            subject_type?: "partition";
                        };
                        /** @constant */
                        type?: "partition.missing";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "partition.removed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PartitionOf"];
                            /** @enum {unknown} */
                            subject_type?: "partition";
                        };
                        /** @constant */
                        type?: "partition.removed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "partition.removing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PartitionOf"];
                            /** @enum {unknown} */
                            subject_type?: "partition";
                        };
                        /** @constant */
                        type?: "partition.removing";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "partition.resetting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PartitionOf"];
                            /** @enum {unknown} */
                            subject_type?: "partition";
                        };
                        /** @constant */
                        type?: "partition.resetting";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "partition.unknown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PartitionOf"];
                            /** @enum {unknown} */
                            subject_type?: "partition";
                        };
                        /** @constant */
                        type?: "partition.unknown";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PaymentFailed"];
                            /** @enum {unknown} */
                            subject_type?: "payment";
                        };
                        /** @constant */
                        type?: "payment.failed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PaymentOf"];
                            /** @enum {unknown} */
                            subject_type?: "payment";
                        };
                        /** @constant */
                        type?: "payment.received";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.refunded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["PaymentOf"];
                            /** @enum {unknown} */
                            subject_type?: "payment";
                        };
                        /** @constant */
                        type?: "payment.refunded";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "project.account_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["AccountAssigned"];
                            /** @enum {unknown} */
                            subject_type?: "project";
                        };
                        /** @constant */
                        type?: "project.account_changed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "project.charges_corrected": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ChargesCorrected"];
                            /** @enum {unknown} */
                            subject_type?: "project";
                        };
                        /** @constant */
                        type?: "project.charges_corrected";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "project.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "project";
                        };
                        /** @constant */
                        type?: "project.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "project.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "project";
                        };
                        /** @constant */
                        type?: "project.deleted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "project.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "project";
                        };
                        /** @constant */
                        type?: "project.updated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "quota.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "project";
                        };
                        /** @constant */
                        type?: "quota.updated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "quota_request.declined": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["QuotaRequested"];
                            /** @enum {unknown} */
                            subject_type?: "quota_request";
                        };
                        /** @constant */
                        type?: "quota_request.declined";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "quota_request.granted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["QuotaRequested"];
                            /** @enum {unknown} */
                            subject_type?: "quota_request";
                        };
                        /** @constant */
                        type?: "quota_request.granted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "quota_request.opened": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["QuotaRequested"];
                            /** @enum {unknown} */
                            subject_type?: "quota_request";
                        };
                        /** @constant */
                        type?: "quota_request.opened";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "quota_request.withdrawn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["QuotaRequested"];
                            /** @enum {unknown} */
                            subject_type?: "quota_request";
                        };
                        /** @constant */
                        type?: "quota_request.withdrawn";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "reservation.active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ReservedCapacity"];
                            /** @enum {unknown} */
                            subject_type?: "reservation";
                        };
                        /** @constant */
                        type?: "reservation.active";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "reservation.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ReservedCapacity"];
                            /** @enum {unknown} */
                            subject_type?: "reservation";
                        };
                        /** @constant */
                        type?: "reservation.cancelled";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "reservation.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ReservedCapacity"];
                            /** @enum {unknown} */
                            subject_type?: "reservation";
                        };
                        /** @constant */
                        type?: "reservation.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "reservation.ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ReservedCapacity"];
                            /** @enum {unknown} */
                            subject_type?: "reservation";
                        };
                        /** @constant */
                        type?: "reservation.ended";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "service.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ServiceOf"];
                            /** @enum {unknown} */
                            subject_type?: "service";
                        };
                        /** @constant */
                        type?: "service.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "service.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ServiceEnded"];
                            /** @enum {unknown} */
                            subject_type?: "service";
                        };
                        /** @constant */
                        type?: "service.failed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "service.restarted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ServiceEnded"];
                            /** @enum {unknown} */
                            subject_type?: "service";
                        };
                        /** @constant */
                        type?: "service.restarted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "service.started": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ServiceOf"];
                            /** @enum {unknown} */
                            subject_type?: "service";
                        };
                        /** @constant */
                        type?: "service.started";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "service.stopped": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["ServiceEnded"];
                            /** @enum {unknown} */
                            subject_type?: "service";
                        };
                        /** @constant */
                        type?: "service.stopped";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "snapshot.available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["SnapshotOf"];
                            /** @enum {unknown} */
                            subject_type?: "snapshot";
                        };
                        /** @constant */
                        type?: "snapshot.available";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "snapshot.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["SnapshotOf"];
                            /** @enum {unknown} */
                            subject_type?: "snapshot";
                        };
                        /** @constant */
                        type?: "snapshot.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "snapshot.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["SnapshotOf"];
                            /** @enum {unknown} */
                            subject_type?: "snapshot";
                        };
                        /** @constant */
                        type?: "snapshot.deleted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "snapshot.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["SnapshotFailed"];
                            /** @enum {unknown} */
                            subject_type?: "snapshot";
                        };
                        /** @constant */
                        type?: "snapshot.failed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "snapshot.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["SnapshotOf"];
                            /** @enum {unknown} */
                            subject_type?: "snapshot";
                        };
                        /** @constant */
                        type?: "snapshot.updated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "ssh_authority.rotated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["SshAuthorityOf"];
                            /** @enum {unknown} */
                            subject_type?: "ssh_authority";
                        };
                        /** @constant */
                        type?: "ssh_authority.rotated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "ssh_certificate.issued": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["SshCertificateOf"];
                            /** @enum {unknown} */
                            subject_type?: "cluster";
                        };
                        /** @constant */
                        type?: "ssh_certificate.issued";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "ssh_key.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "ssh_key";
                        };
                        /** @constant */
                        type?: "ssh_key.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "ssh_key.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "ssh_key";
                        };
                        /** @constant */
                        type?: "ssh_key.deleted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "terminal.closed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["TerminalClosed"];
                            /** @enum {unknown} */
                            subject_type?: "terminal";
                        };
                        /** @constant */
                        type?: "terminal.closed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "terminal.opened": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["TerminalOf"];
                            /** @enum {unknown} */
                            subject_type?: "terminal";
                        };
                        /** @constant */
                        type?: "terminal.opened";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "token.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["TokenMade"];
                            /** @enum {unknown} */
                            subject_type?: "token";
                        };
                        /** @constant */
                        type?: "token.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "token.revoked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "token";
                        };
                        /** @constant */
                        type?: "token.revoked";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "token.rotated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["TokenReplaced"];
                            /** @enum {unknown} */
                            subject_type?: "token";
                        };
                        /** @constant */
                        type?: "token.rotated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "volume.attached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["VolumeAttachedTo"];
                            /** @enum {unknown} */
                            subject_type?: "volume";
                        };
                        /** @constant */
                        type?: "volume.attached";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "volume.available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["VolumeOf"];
                            /** @enum {unknown} */
                            subject_type?: "volume";
                        };
                        /** @constant */
                        type?: "volume.available";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "volume.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["VolumeOf"];
                            /** @enum {unknown} */
                            subject_type?: "volume";
                        };
                        /** @constant */
                        type?: "volume.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "volume.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["VolumeOf"];
                            /** @enum {unknown} */
                            subject_type?: "volume";
                        };
                        /** @constant */
                        type?: "volume.deleted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "volume.detached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["VolumeAttachedTo"];
                            /** @enum {unknown} */
                            subject_type?: "volume";
                        };
                        /** @constant */
                        type?: "volume.detached";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "volume.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["VolumeFailed"];
                            /** @enum {unknown} */
                            subject_type?: "volume";
                        };
                        /** @constant */
                        type?: "volume.failed";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "volume.resized": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["VolumeOf"];
                            /** @enum {unknown} */
                            subject_type?: "volume";
                        };
                        /** @constant */
                        type?: "volume.resized";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "volume.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["VolumeOf"];
                            /** @enum {unknown} */
                            subject_type?: "volume";
                        };
                        /** @constant */
                        type?: "volume.updated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "webhook";
                        };
                        /** @constant */
                        type?: "webhook.created";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "webhook";
                        };
                        /** @constant */
                        type?: "webhook.deleted";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.disabled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: components["schemas"]["WebhookStopped"];
                            /** @enum {unknown} */
                            subject_type?: "webhook";
                        };
                        /** @constant */
                        type?: "webhook.disabled";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Ping"];
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.secret_rotated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "webhook";
                        };
                        /** @constant */
                        type?: "webhook.secret_rotated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header: {
                    "webhook-id": components["parameters"]["webhook-id"];
                    "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                    "webhook-signature": components["parameters"]["webhook-signature"];
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Message"] & {
                        data?: {
                            data?: Record<string, never>;
                            /** @enum {unknown} */
                            subject_type?: "webhook";
                        };
                        /** @constant */
                        type?: "webhook.updated";
                    };
                };
            };
            responses: {
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        AccessKey: {
            /** Format: date-time */
            created_at: string;
            id: string;
        };
        AccountAssigned: {
            /** Format: uuid */
            account_id: string;
        };
        AccountBudgetCreate: {
            amount: components["schemas"]["Money"];
            name: string;
            thresholds: components["schemas"]["BudgetThresholdCreate"][];
        };
        AccountChoice: {
            /** Format: uuid */
            account_id: string;
        };
        AccountExportCreate: {
            connection?: string | null;
            /** @default cost-and-usage */
            dataset?: components["schemas"]["Dataset"];
            /** @default csv */
            format?: components["schemas"]["FileFormat"];
            month?: string | null;
            /** @default false */
            provisional?: boolean;
            since?: string | null;
            until?: string | null;
            /** @default 1.4 */
            version?: components["schemas"]["FocusVersion"];
        };
        AccountInvitationCreate: {
            email: string;
        };
        AccountRestricted: {
            /** @enum {string} */
            restriction: "refuse_creates" | "suspend";
        };
        AccountS3ConnectionCreate: {
            access_key_id: string;
            bucket: string;
            endpoint: string;
            name: string;
            /** @default  */
            prefix?: string;
            /** @default us-east-1 */
            region?: string;
            secret: string;
        };
        AccountS3ConnectionPatch: {
            access_key_id?: string;
            bucket?: string;
            endpoint?: string;
            prefix?: string;
            region?: string;
            secret?: string;
        };
        AccountWebhookCreate: {
            /** @default  */
            description?: string;
            event_types?: ("account.*" | "account.export_limit_updated" | "account.funds_exhausted" | "account.funds_low" | "account.funds_restored" | "account.restricted" | "account.restriction_lifted" | "account.top_up_paused" | "account.top_up_requested" | "account.top_up_resumed" | "account.topped_up" | "budget.*" | "budget.forecast_reached" | "budget.threshold_reached" | "credit_note.*" | "credit_note.issued" | "invoice.*" | "invoice.issued" | "invoice.overdue" | "member.*" | "member.invited" | "member.joined" | "member.removed" | "operation.*" | "operation.created" | "operation.failed" | "operation.succeeded" | "payment.*" | "payment.failed" | "payment.received" | "payment.refunded" | "project.*" | "project.account_changed" | "webhook.*" | "webhook.created" | "webhook.deleted" | "webhook.disabled" | "webhook.secret_rotated" | "webhook.updated")[];
            url: string;
        };
        AccountWebhookPatch: {
            description?: string | null;
            enabled?: boolean | null;
            event_types?: ("account.*" | "account.export_limit_updated" | "account.funds_exhausted" | "account.funds_low" | "account.funds_restored" | "account.restricted" | "account.restriction_lifted" | "account.top_up_paused" | "account.top_up_requested" | "account.top_up_resumed" | "account.topped_up" | "budget.*" | "budget.forecast_reached" | "budget.threshold_reached" | "credit_note.*" | "credit_note.issued" | "invoice.*" | "invoice.issued" | "invoice.overdue" | "member.*" | "member.invited" | "member.joined" | "member.removed" | "operation.*" | "operation.created" | "operation.failed" | "operation.succeeded" | "payment.*" | "payment.failed" | "payment.received" | "payment.refunded" | "project.*" | "project.account_changed" | "webhook.*" | "webhook.created" | "webhook.deleted" | "webhook.disabled" | "webhook.secret_rotated" | "webhook.updated")[] | null;
            url?: string | null;
        };
        Address: {
            cluster: string | null;
            cluster_name: string | null;
            command: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            currency: string;
            deleted_at: string | null;
            /** Format: uuid */
            id: string;
            ip: string | null;
            name: string;
            observed_at: string | null;
            poplar_server: string | null;
            port: number | null;
            region: string;
            sku: string;
            state: components["schemas"]["AddressState"];
            /** Format: date-time */
            state_entered_at: string;
            state_reason: string | null;
            tags: {
                [key: string]: string;
            };
        };
        AddressAttach: {
            /** Format: uuid */
            cluster: string;
            poplar_server?: string | null;
        };
        AddressAttachedTo: {
            /** Format: uuid */
            cluster: string;
            /** @default null */
            ip?: string | null;
            name: string;
            poplar_server: string;
            region: string;
        };
        AddressCreate: {
            name: string;
            region: string;
            tags?: {
                [key: string]: string;
            };
        };
        AddressFailed: {
            /** @default null */
            ip?: string | null;
            name: string;
            reason: string;
            region: string;
        };
        AddressOf: {
            /** @default null */
            ip?: string | null;
            name: string;
            region: string;
        };
        AddressPage: {
            items: components["schemas"]["Address"][];
            next_cursor: string | null;
        };
        AddressPatch: {
            name?: string;
            tags?: {
                [key: string]: string;
            };
        };
        /** @enum {string} */
        AddressState: "creating" | "available" | "attaching" | "attached" | "detaching" | "deleting" | "deleted" | "error";
        /** @enum {string} */
        AllocatedThrough: "v-ipu" | "host-devices";
        AmountOfMoney: {
            amount: string;
            currency: string;
        };
        Attention: {
            /** Format: uuid */
            id: string;
            name: string;
            state: string;
            /** Format: date-time */
            state_entered_at: string;
            state_reason: string | null;
        };
        AuditEntry: {
            account_id: string | null;
            actor: string | null;
            address: string;
            agent: string;
            /** Format: date-time */
            at: string;
            code: string | null;
            completed_at: string | null;
            hash: string | null;
            /** Format: uuid */
            id: string;
            method: string;
            objects: {
                [key: string]: string;
            };
            operation: string;
            project_id: string | null;
            request_id: string;
            seq: number | null;
            state: string;
            status: number | null;
            token_id: string | null;
        };
        AuditEntryPage: {
            items: components["schemas"]["AuditEntry"][];
            next_cursor: string | null;
        };
        AuditRepair: {
            action: string;
            rule: string;
        };
        Balance: {
            credit: components["schemas"]["Money"];
            currency: string;
            outstanding: components["schemas"]["Money"];
            unbilled: components["schemas"]["Money"];
            wallet: components["schemas"]["Money"];
        };
        Balances: {
            /** Format: uuid */
            account_id: string;
            items: components["schemas"]["Balance"][];
        };
        Billing: {
            cost: components["schemas"]["Money"] | null;
            cost_per_minute: components["schemas"]["Money"] | null;
            credited_machines: number;
            credited_minutes: number;
            minutes: number;
            started_at: string | null;
            /** @enum {string} */
            status: "not_started" | "running" | "paused" | "ended";
        };
        BillingAccount: {
            address: string | null;
            country: string | null;
            /** Format: date-time */
            created_at: string;
            currency: string;
            e_invoice: components["schemas"]["EInvoiceBuyer"];
            /** Format: uuid */
            id: string;
            legal_name: string | null;
            name: string;
            payment_days: number;
            tax_exempt: boolean;
            tax_id: string | null;
            version: number;
        };
        BillingAccountCreate: {
            address?: string | null;
            country?: string | null;
            currency: string;
            /** @default {} */
            e_invoice?: components["schemas"]["EInvoiceBuyer"];
            legal_name?: string | null;
            name: string;
            /** @default 30 */
            payment_days?: number;
            /** @default false */
            tax_exempt?: boolean;
            tax_id?: string | null;
        };
        BillingAccountPage: {
            items: components["schemas"]["BillingAccount"][];
            next_cursor: string | null;
        };
        BillingAccountPatch: {
            address?: string | null;
            country?: string | null;
            e_invoice?: components["schemas"]["EInvoiceBuyer"] | null;
            legal_name?: string | null;
            name?: string | null;
            payment_days?: number | null;
            tax_exempt?: boolean | null;
            tax_id?: string | null;
        };
        BookedPrice: {
            account_id: string | null;
            /** Format: uuid */
            id: string;
            region: string;
            sku: string;
            source: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to: string | null;
        };
        Budget: {
            actual: components["schemas"]["Money"] | null;
            amount: components["schemas"]["Money"];
            /** Format: date-time */
            created_at: string;
            evaluated_at: string | null;
            forecast: components["schemas"]["Money"] | null;
            /** Format: uuid */
            id: string;
            month: string | null;
            name: string;
            refuses_creates: boolean;
            /** @enum {string} */
            scope: "project" | "tag" | "account";
            tag: components["schemas"]["BudgetTag"] | null;
            thresholds: components["schemas"]["BudgetThreshold"][];
            version: number;
        };
        BudgetCreate: {
            amount: components["schemas"]["Money"];
            name: string;
            tag?: components["schemas"]["BudgetTagCreate"] | null;
            thresholds: components["schemas"]["BudgetThresholdCreate"][];
        };
        BudgetPage: {
            items: components["schemas"]["Budget"][];
            next_cursor: string | null;
        };
        BudgetPatch: {
            amount?: components["schemas"]["Money"] | null;
            name?: string | null;
            thresholds?: components["schemas"]["BudgetThresholdCreate"][] | null;
        };
        BudgetReached: {
            action: string | null;
            amount: components["schemas"]["AmountOfMoney"];
            figure: components["schemas"]["AmountOfMoney"];
            month: string;
            name: string;
            percent: number;
        };
        BudgetRef: {
            /** Format: uuid */
            id: string;
            name: string;
        };
        BudgetTag: {
            key: string;
            value: string;
        };
        BudgetTagCreate: {
            key: string;
            value: string;
        };
        BudgetThreshold: {
            action: ("refuse_creates" | "suspend") | null;
            /** @enum {string} */
            on: "actual" | "forecast";
            percent: number;
            reached_at: string | null;
        };
        BudgetThresholdCreate: {
            action?: ("refuse_creates" | "suspend") | null;
            /**
             * @default actual
             * @enum {string}
             */
            on?: "actual" | "forecast";
            percent: number;
        };
        Capacity: {
            available: number;
            flavor: string;
            ipus: number;
            machine_type: string;
            machines: number;
            why_not: components["schemas"]["WhyNot"] | null;
        };
        CapacityPage: {
            items: components["schemas"]["Capacity"][];
            next_cursor: string | null;
        };
        CapacityWait: {
            expected_at: string | null;
            held_up_by: string | null;
            machines: number;
            observed_at: string | null;
            place: number;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
        };
        Charge: {
            /** Format: uuid */
            account_id: string;
            /** Format: date */
            billing_month: string;
            correction: boolean;
            cost: components["schemas"]["Money"];
            /** Format: date-time */
            ended_at: string;
            first_minute: number;
            formula: string;
            /** Format: date-time */
            hour: string;
            id: string;
            minutes: number;
            /** Format: date-time */
            posted_at: string;
            price: components["schemas"]["ChargedPrice"];
            /** Format: date-time */
            started_at: string;
            usage: components["schemas"]["ChargedUsage"];
        };
        ChargePage: {
            items: components["schemas"]["Charge"][];
            next_cursor: string | null;
        };
        ChargedPrice: {
            contract: boolean;
            /** Format: uuid */
            id: string;
            list_unit_price: components["schemas"]["Money"];
            region: string;
            sku: string;
            source: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to: string | null;
        };
        ChargedUsage: {
            /** Format: date-time */
            anchor_at: string;
            credited_for: components["schemas"]["CitedReport"][];
            credited_machines: number;
            ended_at: string | null;
            flavor: string;
            /** Format: uuid */
            interval_id: string;
            machines: number;
            /** Format: date-time */
            started_at: string;
        };
        ChargesCorrected: {
            difference: components["schemas"]["AmountOfMoney"];
            region: string;
            /** Format: date-time */
            since: string;
            sku: string;
            unit_price: components["schemas"]["AmountOfMoney"];
            until: string | null;
        };
        CitedReport: {
            code: string;
            ended_at: string | null;
            /** Format: date-time */
            first_seen_at: string;
            /** @enum {string} */
            kind: "machine" | "poplar_server";
            machine: string | null;
            message: string | null;
            /** Format: uuid */
            report_id: string;
        };
        Cleaning: {
            /** Format: uuid */
            cluster: string;
            external_name: string;
            freed_at: string | null;
            /** Format: date-time */
            held_since: string;
            /** @enum {string} */
            kind: "machine" | "host";
            name: string;
            observed: {
                [key: string]: string;
            };
            /** Format: date-time */
            observed_at: string;
            project: string;
            region: string;
            /** Format: date-time */
            released_at: string;
        };
        CleaningPage: {
            items: components["schemas"]["Cleaning"][];
            next_cursor: string | null;
        };
        CloudEvent: {
            actor: string | null;
            address: string | null;
            agent: string | null;
            data: {
                [key: string]: unknown;
            };
            /** @constant */
            datacontenttype: "application/json";
            id: string;
            operationid: string | null;
            region: string | null;
            requestid: string | null;
            source: string;
            /** @constant */
            specversion: "1.0";
            subject: string;
            /** Format: date-time */
            time: string;
            type: string;
        };
        CloudEventPage: {
            items: components["schemas"]["CloudEvent"][];
            next_cursor: string | null;
        };
        Cluster: {
            addresses: components["schemas"]["ClusterAddress"][];
            auto_repair: boolean;
            billing: components["schemas"]["Billing"];
            blocked_by: string | null;
            /** Format: date-time */
            created_at: string;
            delete_protection: boolean;
            deleted_at: string | null;
            expires_at: string | null;
            expiry_warned_at: string | null;
            faults: components["schemas"]["Fault"][];
            flavor: string;
            /** Format: uuid */
            id: string;
            idle: components["schemas"]["Idle"] | null;
            idle_suspend_minutes: number | null;
            image: string;
            ipus: number;
            machines: components["schemas"]["Machine"][];
            name: string;
            observed_at: string | null;
            operation: components["schemas"]["OperationSummary"] | null;
            partitions: components["schemas"]["Partition"][];
            poplar_servers: components["schemas"]["PoplarServer"][];
            preempt_at: string | null;
            preemptible: boolean;
            price_per_minute: components["schemas"]["Money"] | null;
            progress: number;
            project: string;
            ready_at: string | null;
            region: string;
            repair_window: components["schemas"]["RepairWindow"] | null;
            resize: components["schemas"]["Resize"] | null;
            s3_connections: string[];
            schedule: components["schemas"]["ClusterScheduleState"] | null;
            scheduled_repair: components["schemas"]["ScheduledRepair"] | null;
            ssh_keys: string[];
            stage: string | null;
            state: components["schemas"]["ClusterState"];
            /** Format: date-time */
            state_entered_at: string;
            state_reason: string | null;
            state_sla_seconds: number | null;
            tags: {
                [key: string]: string;
            };
            version: number;
            waiting: components["schemas"]["CapacityWait"] | null;
        };
        ClusterAddress: {
            command: string | null;
            /** Format: uuid */
            id: string;
            ip: string;
            name: string;
            poplar_server: string;
            port: number;
            state: components["schemas"]["AddressState"];
        };
        ClusterChanged: {
            fields: string[];
        };
        ClusterCreate: {
            /** @default true */
            auto_repair?: boolean;
            /** @default false */
            delete_protection?: boolean;
            expires_at?: string | null;
            flavor: string;
            idle_suspend_minutes?: number | null;
            image: string;
            name: string;
            /**
             * @default {
             *       "reconfigurable": true
             *     }
             */
            partition?: components["schemas"]["PartitionOptions"];
            poplar_servers?: number | null;
            /** @default false */
            preemptible?: boolean;
            region: string;
            repair_window?: components["schemas"]["RepairWindow"] | null;
            reservation?: string | null;
            s3_connections?: string[];
            schedule?: components["schemas"]["ClusterSchedule"] | null;
            ssh_keys?: string[];
            tags?: {
                [key: string]: string;
            };
            user_data?: string | null;
            volumes?: components["schemas"]["ClusterVolume"][];
            /** @default false */
            wait_for_capacity?: boolean;
            wait_until?: string | null;
        };
        ClusterDegraded: {
            /** @default 0 */
            credited_machines?: number;
            faults?: components["schemas"]["ClusterFault"][];
            /** @default false */
            late?: boolean;
            /** @default null */
            reason?: string | null;
        };
        ClusterEntered: {
            /** @default false */
            late?: boolean;
            /** @default null */
            reason?: string | null;
        };
        ClusterExpires: {
            /** Format: date-time */
            expires_at: string;
        };
        ClusterFault: {
            code: string;
            credited: boolean;
            /** @enum {string} */
            kind: "machine" | "poplar_server" | "link";
            message: string;
            name: string;
            /** Format: date-time */
            since: string;
        };
        ClusterForceDelete: {
            reason: string;
        };
        ClusterMove: {
            /** Format: uuid */
            cluster: string;
            machines: number;
            minutes: number;
            name: string;
            not_billed: components["schemas"]["Money"] | null;
            project: string;
            since: components["schemas"]["Place"][];
            to: components["schemas"]["Place"][];
        };
        ClusterPage: {
            items: components["schemas"]["ClusterSummary"][];
            next_cursor: string | null;
        };
        ClusterPatch: {
            auto_repair?: boolean;
            delete_protection?: boolean;
            expires_at?: string | null;
            idle_suspend_minutes?: number | null;
            name?: string;
            repair_window?: components["schemas"]["RepairWindow"] | null;
            s3_connections?: string[];
            schedule?: components["schemas"]["ClusterSchedule"] | null;
            ssh_keys?: string[];
            tags?: {
                [key: string]: string;
            };
        };
        ClusterPreempted: {
            /** Format: date-time */
            preempt_at: string;
        };
        ClusterPrice: {
            price_per_day: components["schemas"]["Money"];
            price_per_hour: components["schemas"]["Money"];
            price_per_minute: components["schemas"]["Money"];
            price_per_month: components["schemas"]["Money"];
        };
        ClusterRebuild: {
            /** @enum {string} */
            disk: "keep" | "wipe";
            image?: string;
            poplar_servers?: string[] | null;
            ssh_keys?: string[];
            user_data?: string | null;
        };
        ClusterRequested: {
            flavor: string;
            /** @default false */
            late?: boolean;
            region: string;
        };
        ClusterResize: {
            flavor: string;
            /** @default false */
            wait_for_capacity?: boolean;
            wait_until?: string | null;
        };
        ClusterResized: {
            from_flavor: string;
            moved: boolean;
            to_flavor: string;
        };
        ClusterRestart: {
            poplar_servers?: string[] | null;
        };
        ClusterResume: {
            /** @default false */
            wait_for_capacity?: boolean;
            wait_until?: string | null;
        };
        ClusterSchedule: {
            holidays?: string[];
            periods: components["schemas"]["UsePeriod"][];
            time_zone: string;
        };
        ClusterScheduleState: {
            due: components["schemas"]["DueAction"] | null;
            holidays: string[];
            next_action: ("suspend" | "resume") | null;
            next_at: string | null;
            periods: components["schemas"]["UsePeriod"][];
            time_zone: string;
        };
        ClusterSpending: {
            accrued: components["schemas"]["Money"];
            /** Format: uuid */
            cluster_id: string;
            flavor: string;
            forecast: components["schemas"]["Money"];
            minutes: number;
            name: string;
            per_hour: components["schemas"]["Money"];
            previous: components["schemas"]["Money"];
            /** Format: uuid */
            project_id: string;
            region: string;
            state: string | null;
        };
        /** @enum {string} */
        ClusterState: "creating" | "active" | "degraded" | "resizing" | "suspending" | "suspended" | "resuming" | "rebooting" | "rebuilding" | "error" | "deleting" | "deleted";
        ClusterSummary: {
            addresses: components["schemas"]["ClusterAddress"][];
            auto_repair: boolean;
            billing: components["schemas"]["Billing"];
            blocked_by: string | null;
            /** Format: date-time */
            created_at: string;
            delete_protection: boolean;
            deleted_at: string | null;
            expires_at: string | null;
            expiry_warned_at: string | null;
            faults: components["schemas"]["Fault"][];
            flavor: string;
            /** Format: uuid */
            id: string;
            idle: components["schemas"]["Idle"] | null;
            idle_suspend_minutes: number | null;
            image: string;
            ipus: number;
            name: string;
            observed_at: string | null;
            operation: components["schemas"]["OperationSummary"] | null;
            partitions: components["schemas"]["Partition"][];
            poplar_servers: components["schemas"]["PoplarServer"][];
            preempt_at: string | null;
            preemptible: boolean;
            price_per_minute: components["schemas"]["Money"] | null;
            progress: number;
            project: string;
            ready_at: string | null;
            region: string;
            repair_window: components["schemas"]["RepairWindow"] | null;
            resize: components["schemas"]["Resize"] | null;
            s3_connections: string[];
            schedule: components["schemas"]["ClusterScheduleState"] | null;
            scheduled_repair: components["schemas"]["ScheduledRepair"] | null;
            ssh_keys: string[];
            stage: string | null;
            state: components["schemas"]["ClusterState"];
            /** Format: date-time */
            state_entered_at: string;
            state_reason: string | null;
            state_sla_seconds: number | null;
            tags: {
                [key: string]: string;
            };
            version: number;
            waiting: components["schemas"]["CapacityWait"] | null;
        };
        ClusterVolume: {
            /** @default 0 */
            server?: number;
            volume: string;
        };
        ClustersInState: {
            clusters: number;
            ipus: number;
            state: string;
        };
        Comparison: {
            source: components["schemas"]["Source"];
            text: string;
        };
        Console: {
            boot: number | null;
            boots: components["schemas"]["ConsoleBoot"][];
            poplar_server: string;
            text: string | null;
        };
        ConsoleBoot: {
            boot_id: string;
            bytes: number;
            dropped_bytes: number;
            ended_at: string | null;
            number: number;
            /** Format: date-time */
            observed_at: string;
            /** Format: date-time */
            started_at: string;
        };
        Controller: {
            address: string;
            cluster_test: boolean;
            error: string | null;
            failed_since: string | null;
            name: string;
            observed_at: string | null;
            region: string;
            /** @enum {string} */
            state: "answering" | "silent" | "unsupported" | "unknown";
            tls: boolean;
            users: boolean;
            version: string | null;
            version_since: string | null;
        };
        ControllerPage: {
            items: components["schemas"]["Controller"][];
            next_cursor: string | null;
        };
        ControllerStatus: {
            auto_resets: number;
            errors: string[];
            last_auto_reset_at: string | null;
            max_auto_resets: number;
            /** Format: date-time */
            observed_at: string;
            operation_state: components["schemas"]["PartitionOperationState"];
        };
        CorrectedInvoice: {
            /** Format: date */
            issued_on: string;
            number: string;
        };
        CorrectedVersion: {
            /** Format: uuid */
            id: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to: string | null;
        };
        CorrectionEffect: {
            account: string;
            /** Format: uuid */
            account_id: string;
            after: components["schemas"]["Money"];
            before: components["schemas"]["Money"];
            clusters: number;
            difference: components["schemas"]["Money"];
            minutes: number;
            month: string;
            project: string;
            /** Format: uuid */
            project_id: string;
            /** @enum {string} */
            settled_by: "open_month" | "next_invoice" | "credit_note";
        };
        Credit: {
            /** Format: uuid */
            account_id: string;
            amount: components["schemas"]["Money"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            reason: string;
            remaining: components["schemas"]["Money"];
        };
        CreditCreate: {
            amount: components["schemas"]["Money"];
            /** Format: date-time */
            expires_at: string;
            reason: string;
        };
        CreditNoteCreate: {
            net?: string | null;
            reason: string;
        };
        CreditNoteNumbered: {
            corrects: string[];
            number: string;
        };
        CreditPage: {
            items: components["schemas"]["Credit"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        Dataset: "cost-and-usage" | "billing-period" | "invoice-detail";
        Defragmentation: {
            /** Format: date-time */
            as_of: string;
            flavor: string;
            machines: number;
            moves: components["schemas"]["ClusterMove"][];
            region: string;
            /** @enum {string} */
            result: "fits" | "possible" | "impossible" | "too_long";
            target: components["schemas"]["Place"][];
        };
        DeleteForced: {
            reason: string;
        };
        Delivery: {
            /** Format: date-time */
            created_at: string;
            delivered_at: string | null;
            event: string | null;
            /** Format: uuid */
            id: string;
            message_id: string;
            next_try_at: string | null;
            payload: {
                [key: string]: unknown;
            };
            state: components["schemas"]["DeliveryState"];
            tries: components["schemas"]["DeliveryAttempt"][];
            type: string;
        };
        DeliveryAttempt: {
            /** Format: date-time */
            at: string;
            failure: components["schemas"]["Failure"] | null;
            seconds: number;
            status: number | null;
        };
        DeliveryPage: {
            items: components["schemas"]["Delivery"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        DeliveryState: "pending" | "delivered" | "failed";
        DeviceLogin: {
            device_code: string;
            expires_in: number;
            interval: number;
            user_code: string;
            verification_uri: string;
            verification_uri_complete: string;
        };
        DeviceLoginCreate: {
            /** @default command line */
            name?: string;
            project?: string | null;
        };
        DeviceLoginShow: {
            user_code: string;
        };
        DeviceTokenCreate: {
            device_code: string;
        };
        /** @enum {string} */
        Disabled: "by_owner" | "gone" | "failing";
        DueAction: {
            /** @enum {string} */
            action: "suspend" | "resume";
            detail: string | null;
            /** Format: date-time */
            due_at: string;
            operation: string | null;
            retry_at: string | null;
            waits_for: ("operation" | "budget_reached" | "capacity_exhausted" | "cost_limit_reached" | "funds_exhausted" | "payment_overdue" | "quota_exceeded" | "state_conflict" | "resume_failed") | null;
        };
        Dunning: {
            /** Format: uuid */
            account_id: string;
            overdue: components["schemas"]["Money"];
            overdue_since: string | null;
            refuse_creates_after: number | null;
            remind_after: number[];
            restriction: ("refuse_creates" | "suspend") | null;
            suspend_after: number | null;
        };
        DunningPolicy: {
            refuse_creates_after?: number | null;
            /**
             * @default [
             *       1,
             *       8,
             *       15
             *     ]
             */
            remind_after?: number[];
            suspend_after?: number | null;
        };
        EInvoiceBuyer: {
            buyer_reference?: string | null;
            city?: string | null;
            electronic_address?: string | null;
            postcode?: string | null;
            purchase_order?: string | null;
            registration_number?: string | null;
        };
        EInvoiceSeller: {
            bic?: string | null;
            city?: string | null;
            contact_email?: string | null;
            contact_name?: string | null;
            contact_phone?: string | null;
            electronic_address?: string | null;
            iban?: string | null;
            postcode?: string | null;
            registration_number?: string | null;
        };
        Estimate: {
            capacity: components["schemas"]["EstimateCapacity"];
            expected_seconds: number;
            price_per_day: components["schemas"]["Money"];
            price_per_hour: components["schemas"]["Money"];
            price_per_minute: components["schemas"]["Money"];
            price_per_month: components["schemas"]["Money"];
            quota: components["schemas"]["EstimateQuota"];
        };
        EstimateCapacity: {
            available: boolean;
            preemption_minutes: number | null;
            wait: components["schemas"]["EstimateWait"] | null;
            why_not: components["schemas"]["WhyNot"] | null;
        };
        EstimateQuota: {
            allowed: boolean;
            limit: number;
            needed: number;
            used: number;
        };
        EstimateWait: {
            expected_at: string | null;
            place: number;
        };
        Event: {
            actor: string | null;
            address: string | null;
            agent: string | null;
            /** Format: date-time */
            at: string;
            data: {
                [key: string]: unknown;
            };
            id: string;
            operation_id: string | null;
            region: string | null;
            request_id: string | null;
            /** Format: uuid */
            subject_id: string;
            subject_type: string;
            type: string;
        };
        EventPage: {
            items: components["schemas"]["Event"][];
            next_cursor: string | null;
        };
        EventType: {
            data_schema: {
                [key: string]: unknown;
            } | null;
            meaning: string;
            subject_types: string[];
            type: string;
        };
        EventTypePage: {
            items: components["schemas"]["EventType"][];
            next_cursor: string | null;
        };
        ExpectedHardware: {
            firmware: string | null;
            /** @enum {string} */
            kind: "machine" | "host";
            model: string | null;
            name: string;
            pod: string | null;
            rack: string | null;
            serial: string | null;
            slot: number | null;
        };
        ExpectedHardwarePage: {
            items: components["schemas"]["ExpectedHardware"][];
            next_cursor: string | null;
        };
        ExpectedInventory: {
            added: number;
            changed: number;
            dry_run: boolean;
            findings: {
                [key: string]: number;
            };
            region: string;
            removed: number;
            withheld: number;
        };
        ExpectedTax: {
            name: string;
            on_accrued: components["schemas"]["Money"];
            on_forecast: components["schemas"]["Money"];
            rate: string;
            /** @enum {string} */
            treatment: "standard" | "reverse_charge" | "exempt";
        };
        Expiries: {
            clusters: number;
            machines: number;
            within_seconds: number;
        };
        Export: {
            built_at: string | null;
            connection: string | null;
            /** Format: date-time */
            created_at: string;
            dataset: string;
            delivered_at: string | null;
            expires_at: string | null;
            failed_deliveries: number;
            format: string;
            /** Format: uuid */
            id: string;
            last_error: string | null;
            manifest: {
                [key: string]: unknown;
            } | null;
            month: string | null;
            /** Format: uuid */
            operation: string;
            progress: number;
            provisional: boolean;
            schedule: string | null;
            scope: string;
            /** Format: date */
            since: string;
            state: string;
            /** Format: date */
            until: string;
            version: string;
        };
        ExportCreate: {
            connection?: string | null;
            /** @default cost-and-usage */
            dataset?: components["schemas"]["Dataset"];
            /** @default csv */
            format?: components["schemas"]["FileFormat"];
            month?: string | null;
            /** @default false */
            provisional?: boolean;
            /**
             * @default project
             * @enum {string}
             */
            scope?: "project" | "account";
            since?: string | null;
            until?: string | null;
            /** @default 1.4 */
            version?: components["schemas"]["FocusVersion"];
        };
        ExportLimit: {
            next_at: string | null;
            per_day: number;
            used: number;
        };
        ExportLimitOf: {
            per_day: number;
        };
        ExportLimitSet: {
            per_day: number;
        };
        ExportPage: {
            items: components["schemas"]["Export"][];
            next_cursor: string | null;
        };
        ExportSchedule: {
            /** Format: uuid */
            connection: string;
            /** Format: date-time */
            created_at: string;
            dataset: string;
            every: string;
            format: string;
            /** Format: uuid */
            id: string;
            last_delivered_at: string | null;
            last_error: string | null;
            last_export: string | null;
            name: string;
            /** Format: date-time */
            next_at: string;
            provisional: boolean;
            version: string;
        };
        ExportScheduleCreate: {
            /** Format: uuid */
            connection: string;
            /** @default cost-and-usage */
            dataset?: components["schemas"]["Dataset"];
            /**
             * @default day
             * @enum {string}
             */
            every?: "hour" | "day" | "month";
            /** @default csv */
            format?: components["schemas"]["FileFormat"];
            /** @default false */
            provisional?: boolean;
            /** @default 1.4 */
            version?: components["schemas"]["FocusVersion"];
        };
        ExportSchedulePage: {
            items: components["schemas"]["ExportSchedule"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        Failure: "status" | "redirect" | "gone" | "timeout" | "unreachable" | "refused_address" | "tls";
        Fault: {
            code: string;
            credited: boolean;
            /** @enum {string} */
            kind: "machine" | "poplar_server" | "link";
            message: string;
            name: string;
            /** Format: date-time */
            since: string;
        };
        FaultReport: {
            answer: string | null;
            answered_at: string | null;
            /** @enum {string} */
            category: "ipu" | "link" | "server" | "disk" | "network" | "performance" | "other";
            closed_at: string | null;
            /** Format: uuid */
            cluster: string;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            description: string;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "machine" | "poplar_server";
            name: string;
            repaired_at: string | null;
            report_id: string | null;
            since: string | null;
            state: components["schemas"]["FaultReportState"];
        };
        FaultReportConfirm: {
            answer: string;
            code?: ("bmc_critical" | "link_down" | "host_failed") | null;
            observed_at?: string | null;
        };
        FaultReportCreate: {
            /**
             * @default other
             * @enum {string}
             */
            category?: "ipu" | "link" | "server" | "disk" | "network" | "performance" | "other";
            description: string;
            since?: string | null;
        };
        FaultReportDismiss: {
            reason: string;
        };
        FaultReportPage: {
            items: components["schemas"]["FaultReport"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        FaultReportState: "open" | "confirmed" | "dismissed" | "repaired" | "closed";
        FaultReported: {
            /** @default null */
            answer?: string | null;
            /** Format: uuid */
            cluster: string;
            /** @enum {string} */
            kind: "machine" | "poplar_server";
            name: string;
        };
        FieldError: {
            code: string;
            detail: string;
            pointer: string;
        };
        /** @enum {string} */
        FileFormat: "csv" | "parquet";
        Flavor: {
            ai_pflops: number;
            allocated_through: components["schemas"]["AllocatedThrough"];
            in_processor_memory_gb: number;
            ipus: number;
            machine_type: string;
            machines: number;
            name: string;
            pod?: string | null;
            poplar_servers: number;
            poplar_servers_max: number;
            poplar_servers_min: number;
            price_per_hour: components["schemas"]["Money"] | null;
            price_per_minute: components["schemas"]["Money"] | null;
            regions: string[];
            sku: string;
            source: components["schemas"]["Source"];
        };
        FlavorPage: {
            items: components["schemas"]["Flavor"][];
            next_cursor: string | null;
        };
        FlavorSpending: {
            accrued: components["schemas"]["Money"];
            flavor: string;
            forecast: components["schemas"]["Money"];
            previous: components["schemas"]["Money"];
        };
        /** @enum {string} */
        FocusVersion: "1.2" | "1.4";
        ForcedSuspend: components["schemas"]["OverBudget"] | components["schemas"]["OverCostLimit"] | components["schemas"]["OutOfFunds"] | components["schemas"]["PaymentOverdue"];
        /** @enum {string} */
        Framework: "pytorch" | "tensorflow1" | "tensorflow2" | "popart" | "popxl" | "poprt" | "paddlepaddle" | "python";
        Freeze: {
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            end_reason: string | null;
            ended_at: string | null;
            ended_by: string | null;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            reason: string;
            region: string | null;
            /** @enum {string} */
            state: "live" | "expired" | "ended";
        };
        FreezeEnd: {
            reason: string;
        };
        FreezePage: {
            items: components["schemas"]["Freeze"][];
            next_cursor: string | null;
        };
        FreezeStart: {
            /** Format: date-time */
            expires_at: string;
            reason: string;
            region?: string | null;
        };
        Funds: {
            /** Format: uuid */
            account_id: string;
            available: components["schemas"]["Money"];
            credit: components["schemas"]["Money"];
            expiring: components["schemas"]["Money"];
            held: components["schemas"]["Money"];
            lasts_until: string | null;
            outstanding: components["schemas"]["Money"];
            per_hour: components["schemas"]["Money"];
            state: ("funded" | "empty") | null;
            state_entered_at: string | null;
            tax: components["schemas"]["Money"];
            tax_rate: string | null;
            top_up: components["schemas"]["TopUp"] | null;
            unbilled: components["schemas"]["Money"];
            unposted: components["schemas"]["Money"];
            wallet: components["schemas"]["Money"];
            warn_hours: number[];
            when_empty: ("warn" | "refuse_creates" | "suspend") | null;
        };
        FundsLeft: {
            lasts_until: string | null;
            left: components["schemas"]["AmountOfMoney"];
            when_empty: string;
        };
        FundsLow: {
            hours: number;
            lasts_until: string | null;
            left: components["schemas"]["AmountOfMoney"];
            when_empty: string;
        };
        /** @enum {string} */
        GatewayRouting: "ring" | "swring";
        HardwareChanged: {
            allocatable: boolean;
            codes: string[];
            holder: components["schemas"]["Holder"] | null;
            /** @enum {string} */
            kind: "machine" | "host";
            name: string;
        };
        HardwareChangedPage: {
            items: components["schemas"]["HardwareChanged"][];
            next_cursor: string | null;
        };
        HardwareEvent: {
            actor: string | null;
            /** Format: date-time */
            at: string;
            detail: string;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "machine" | "host";
            name: string;
            region: string;
            type: string;
        };
        HardwareEventPage: {
            items: components["schemas"]["HardwareEvent"][];
            next_cursor: string | null;
        };
        HardwareExpectation: {
            firmware?: string | null;
            /** @enum {string} */
            kind: "machine" | "host";
            model?: string | null;
            name: string;
            pod?: string | null;
            rack?: string | null;
            serial?: string | null;
            slot?: number | null;
        };
        HardwareFailed: {
            hosts: string[];
            machines: string[];
            reason: string;
        };
        HardwareHistory: {
            actor: string | null;
            /** Format: date-time */
            at: string;
            cluster: string | null;
            code: string | null;
            detail: string | null;
            project: string | null;
            source: string | null;
            type: string;
        };
        HardwareHistoryPage: {
            items: components["schemas"]["HardwareHistory"][];
            next_cursor: string | null;
        };
        HardwareHost: {
            address: string;
            allocatable: boolean;
            codes: string[];
            firmware: string | null;
            /** @enum {string} */
            health: "ok" | "unknown" | "degraded" | "failed" | "silent";
            holder: components["schemas"]["Holder"] | null;
            machine: string | null;
            maintenance: boolean;
            model: string | null;
            name: string;
            observed_at: string | null;
            region: string;
            serial: string | null;
            /** @enum {string} */
            state: "free" | "allocated" | "cleaning" | "validating" | "unhealthy" | "maintenance" | "silent";
        };
        HardwareHostDetail: {
            address: string;
            allocatable: boolean;
            codes: string[];
            firmware: string | null;
            /** @enum {string} */
            health: "ok" | "unknown" | "degraded" | "failed" | "silent";
            holder: components["schemas"]["Holder"] | null;
            holders: components["schemas"]["Holder"][];
            machine: string | null;
            maintenance: boolean;
            model: string | null;
            name: string;
            observed_at: string | null;
            past_reports: components["schemas"]["HealthReport"][];
            region: string;
            reports: components["schemas"]["HealthReport"][];
            serial: string | null;
            /** @enum {string} */
            state: "free" | "allocated" | "cleaning" | "validating" | "unhealthy" | "maintenance" | "silent";
        };
        HardwareHostPage: {
            items: components["schemas"]["HardwareHost"][];
            next_cursor: string | null;
        };
        HardwareMachine: {
            allocatable: boolean;
            codes: string[];
            firmware: string | null;
            /** @enum {string} */
            health: "ok" | "unknown" | "degraded" | "failed" | "silent";
            holder: components["schemas"]["Holder"] | null;
            links: components["schemas"]["MachineLinks"] | null;
            machine_type: string;
            maintenance: boolean;
            model: string | null;
            name: string;
            observed_at: string | null;
            pod: string;
            rack: string;
            region: string;
            serial: string | null;
            slot: number;
            /** @enum {string} */
            state: "free" | "allocated" | "cleaning" | "validating" | "unhealthy" | "maintenance" | "silent";
        };
        HardwareMachineDetail: {
            allocatable: boolean;
            bmc: string;
            codes: string[];
            firmware: string | null;
            gateway: string | null;
            /** @enum {string} */
            health: "ok" | "unknown" | "degraded" | "failed" | "silent";
            holder: components["schemas"]["Holder"] | null;
            holders: components["schemas"]["Holder"][];
            host: string | null;
            links: components["schemas"]["MachineLinks"] | null;
            machine_type: string;
            maintenance: boolean;
            missing_since: string | null;
            model: string | null;
            name: string;
            observed_at: string | null;
            part_serials: {
                [key: string]: string;
            };
            parts: {
                [key: string]: string;
            };
            past_reports: components["schemas"]["HealthReport"][];
            pod: string;
            rack: string;
            region: string;
            reports: components["schemas"]["HealthReport"][];
            rnic: string;
            serial: string | null;
            slot: number;
            /** @enum {string} */
            state: "free" | "allocated" | "cleaning" | "validating" | "unhealthy" | "maintenance" | "silent";
        };
        HardwareMachinePage: {
            items: components["schemas"]["HardwareMachine"][];
            next_cursor: string | null;
        };
        HardwareMaintenance: {
            expires_at?: string | null;
            hosts?: string[];
            machines?: string[];
            pods?: string[];
            racks?: string[];
            reason: string;
            starts_at?: string | null;
            /** @default false */
            urgent?: boolean;
        };
        HardwareReason: {
            expires_at?: string | null;
            hosts?: string[];
            machines?: string[];
            pods?: string[];
            racks?: string[];
            reason: string;
        };
        HardwareSelection: {
            hosts?: string[];
            machines?: string[];
            pods?: string[];
            racks?: string[];
        };
        HealthReport: {
            /** @enum {string} */
            alerts: "raised" | "suppressed";
            /** @enum {string} */
            allocation: "allowed" | "prevented";
            /** @enum {string} */
            automation: "allowed" | "prevented";
            cleared_at: string | null;
            cluster: string | null;
            code: string;
            confirmed_at: string | null;
            created_by: string | null;
            credited: boolean;
            detail: string;
            expires_at: string | null;
            /** Format: date-time */
            first_seen_at: string;
            good_since: string | null;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "machine" | "host";
            /** Format: date-time */
            last_seen_at: string;
            maintenance_at: string | null;
            message: string | null;
            name: string;
            region: string;
            source: string;
            /** @enum {string} */
            state: "suspected" | "live" | "cleared";
        };
        HealthReportPage: {
            items: components["schemas"]["HealthReport"][];
            next_cursor: string | null;
        };
        Holder: {
            /** Format: uuid */
            cluster: string;
            freed_at: string | null;
            name: string;
            project: string;
            released_at: string | null;
            /** Format: date-time */
            since: string;
            state: string;
        };
        Idle: {
            observed_at: string | null;
            since: string | null;
        };
        IdleServer: {
            attached_ipus: number;
            /** Format: date-time */
            idle_since: string;
            name: string;
            /** Format: date-time */
            observed_at: string;
            sessions: number;
        };
        Image: {
            name: string;
            os: string;
            os_version: string;
            regions: string[];
            sdk_version: string;
            source: components["schemas"]["Source"];
            vipu_version: string;
        };
        ImagePage: {
            items: components["schemas"]["Image"][];
            next_cursor: string | null;
        };
        InventoryAccept: {
            /** @default false */
            everything?: boolean;
            hosts?: string[];
            machines?: string[];
            reason: string;
        };
        InventoryFinding: {
            /** @enum {string} */
            code: "missing" | "surplus" | "wrong_serial" | "wrong_model" | "firmware_differs" | "cabling";
            expected: string | null;
            /** @enum {string} */
            kind: "machine" | "host";
            name: string;
            prevents: boolean;
            region: string;
            registered: boolean;
            shown: string | null;
            /** Format: date-time */
            since: string;
        };
        InventoryFindingPage: {
            items: components["schemas"]["InventoryFinding"][];
            next_cursor: string | null;
        };
        InventoryReplace: {
            items: components["schemas"]["HardwareExpectation"][];
        };
        Invitation: {
            accepted_at: string | null;
            /** Format: date-time */
            created_at: string;
            email: string;
            emailed: boolean;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            invited_by: string | null;
            member_id: string | null;
            revoked_at: string | null;
            role: string;
            state: string;
        };
        InvitationAccept: {
            password: string;
            secret: string;
        };
        InvitationCreate: {
            email: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "billing" | "owner";
        };
        InvitationPage: {
            items: components["schemas"]["Invitation"][];
            next_cursor: string | null;
        };
        InvitationShow: {
            secret: string;
        };
        Invited: {
            account_id: string | null;
            email: string;
            /** Format: date-time */
            expires_at: string;
            has_account: boolean;
            invited_by: string | null;
            project: string | null;
            project_name: string | null;
            role: string;
        };
        Invoice: {
            adjustment?: components["schemas"]["Money"] | null;
            corrects?: components["schemas"]["CorrectedInvoice"][] | null;
            cost?: components["schemas"]["Money"] | null;
            credits?: components["schemas"]["InvoiceCredit"][] | null;
            currency: string;
            customer: components["schemas"]["Recipient"];
            due?: components["schemas"]["Money"] | null;
            due_on?: string | null;
            invoice?: string | null;
            invoice_issued_on?: string | null;
            /** Format: date */
            issued_on: string;
            /** @enum {string} */
            kind: "invoice" | "credit_note" | "draft";
            lines?: components["schemas"]["InvoiceLine"][] | null;
            net?: components["schemas"]["Money"] | null;
            notes: string[];
            number: string | null;
            payment_days?: number | null;
            period: components["schemas"]["InvoicePeriod"];
            promo_applied?: components["schemas"]["Money"] | null;
            reason?: string | null;
            seller: components["schemas"]["Issuer"];
            settled?: components["schemas"]["SettledInvoice"][] | null;
            subtotal?: components["schemas"]["Money"] | null;
            tax: components["schemas"]["Money"];
            /** @enum {string} */
            tax_treatment: "standard" | "reverse_charge" | "exempt";
            taxable?: components["schemas"]["Money"] | null;
            taxes: components["schemas"]["InvoiceTax"][];
            to_wallet?: components["schemas"]["Money"] | null;
            total: components["schemas"]["Money"];
            wallet_applied?: components["schemas"]["Money"] | null;
        };
        InvoiceCredit: {
            amount: components["schemas"]["Money"];
            cluster: string;
            /** Format: uuid */
            cluster_id: string;
            credited_for: components["schemas"]["CitedReport"][];
            machine_minutes: number;
            /** Format: uuid */
            project_id: string;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
        };
        InvoiceLine: {
            amount: components["schemas"]["Money"];
            contract?: boolean | null;
            correction: boolean;
            corrects?: string | null;
            cost: components["schemas"]["Money"];
            /** @default 0 */
            credited_machine_minutes?: number;
            line: number;
            machine_minutes: number;
            minutes: number;
            /** Format: uuid */
            price_id: string;
            price_since?: string | null;
            price_until?: string | null;
            project: string;
            /** Format: uuid */
            project_id: string;
            region: string;
            since?: string | null;
            sku: string;
            tax_rate: string;
            unit_price: components["schemas"]["Money"];
            until?: string | null;
            usage_month: string;
        };
        InvoiceNumbered: {
            number: string;
        };
        InvoiceOverdue: {
            /** Format: date */
            due_on: string;
            level: number;
            number: string;
            outstanding: components["schemas"]["AmountOfMoney"];
        };
        InvoicePage: {
            items: components["schemas"]["InvoiceRow"][];
            next_cursor: string | null;
        };
        InvoicePeriod: {
            /** Format: date */
            since: string;
            /** Format: date */
            until: string;
        };
        InvoiceRow: {
            due_on: string | null;
            invoice: string | null;
            /** Format: date-time */
            issued_at: string;
            /** @enum {string} */
            kind: "invoice" | "credit_note";
            month: string;
            number: string;
            outstanding: components["schemas"]["Money"];
            total: components["schemas"]["Money"];
        };
        InvoiceTax: {
            name: string;
            rate: string;
            tax: components["schemas"]["Money"];
            taxable: components["schemas"]["Money"];
        };
        Ipu: {
            ipu: number;
            partition: string | null;
        };
        IpuGeneration: {
            architecture: string;
            clock_ghz?: number | null;
            cores: number;
            exchange_bandwidth?: string | null;
            fp16_tflops: number;
            fp32_tflops?: number | null;
            fp8_tflops?: number | null;
            generation: number;
            host_interface?: string | null;
            id: string;
            in_processor_memory_mb: number;
            ipu_link_bandwidth: string;
            ipu_links: number;
            memory_bandwidth_tb_per_s?: number | null;
            memory_per_tile_kb?: number | null;
            name: string;
            notes?: string | null;
            source: components["schemas"]["Source"];
            threads: number;
        };
        IpuPage: {
            items: components["schemas"]["IpuGeneration"][];
            next_cursor: string | null;
        };
        IpuofConfig: {
            attributes: {
                [key: string]: string;
            };
            devices: components["schemas"]["IpuofDevice"][];
        };
        IpuofDevice: {
            chip_id: string;
            device_id: number;
            gwsw_version: string;
            ip: string;
            ipu_arch_id: number;
            ipu_id: number;
            ipulink_segment_id: number;
            ipum_sw_version: string;
            rdma_port: number;
            routing_id: number;
            server_port: number;
        };
        Issuer: {
            address: string | null;
            bank: string | null;
            country: string | null;
            /** @default {} */
            e_invoice?: components["schemas"]["EInvoiceSeller"];
            legal_name: string;
            tax_id: string | null;
        };
        Job: {
            attempt: number;
            /** Format: uuid */
            cluster: string;
            command: string[];
            cost: components["schemas"]["Money"] | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            directory: string | null;
            ended_at: string | null;
            ended_by: ("program" | "request" | "time_limit" | "cost_limit" | "server" | "cluster" | "site") | null;
            environment: string[];
            exit_status: number | null;
            /** Format: uuid */
            id: string;
            log_bytes: number;
            max_cost: components["schemas"]["Money"] | null;
            max_minutes: number | null;
            number: number;
            observed_at: string | null;
            poplar_server: string;
            requested_by: components["schemas"]["RequestedBy"];
            retries: number;
            started_at: string | null;
            state: components["schemas"]["JobState"];
            state_reason: string | null;
            stop_requested_at: string | null;
        };
        JobCreate: {
            command: string[];
            directory?: string | null;
            /** @default {} */
            environment?: {
                [key: string]: string;
            };
            max_cost?: components["schemas"]["Money"] | null;
            max_minutes?: number | null;
            poplar_server?: string | null;
            /** @default 0 */
            retries?: number;
        };
        JobEnded: {
            attempt: number;
            /** Format: uuid */
            cluster: string;
            /** @default null */
            ended_by?: ("program" | "request" | "time_limit" | "cost_limit" | "server" | "cluster" | "site") | null;
            /** @default null */
            exit_status?: number | null;
            number: number;
            /** @default null */
            reason?: string | null;
        };
        JobLog: {
            complete: boolean;
            items: components["schemas"]["JobLogPart"][];
            next: number;
            state: components["schemas"]["JobState"];
        };
        JobLogPart: {
            attempt: number;
            number: number;
            /** Format: date-time */
            read_at: string;
            text: string;
        };
        JobOf: {
            attempt: number;
            /** Format: uuid */
            cluster: string;
            number: number;
        };
        JobPage: {
            items: components["schemas"]["Job"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        JobState: "queued" | "running" | "succeeded" | "failed" | "stopped";
        KeepSecret: {
            /** @default 86400 */
            keep_previous_seconds?: number;
        };
        KeyRotate: {
            /** @default false */
            end_server_key?: boolean;
        };
        Link: {
            ends: string[];
            /** @enum {string} */
            kind: "ipu-link" | "gw-link";
            observed_at: string | null;
            /** @enum {string} */
            state: "up" | "degraded" | "down" | "unknown";
        };
        Liveness: {
            status: string;
            version: string;
        };
        LogHint: {
            field: string;
            processes: string[];
            value: string;
        };
        Login: {
            account_id: string | null;
            cost: components["schemas"]["Money"] | null;
            cost_limit: components["schemas"]["Money"] | null;
            /** Format: date-time */
            created_at: string;
            created_by: string | null;
            display_prefix: string;
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            kind: string;
            last_used_at: string | null;
            name: string;
            narrowed: boolean;
            owner: string | null;
            project: string | null;
            revoked_at: string | null;
            role: string;
            scopes: string[];
            token: string | null;
        };
        LoginCreate: {
            email: string;
            /** @default command line */
            name?: string;
            password: string;
            project?: string | null;
        };
        Machine: {
            faults: components["schemas"]["Fault"][];
            /** @enum {string} */
            health: "ok" | "unknown" | "degraded" | "failed";
            ipus: number;
            machine_type: string;
            name: string;
            observed_at: string | null;
            ordinal: number;
            pod: string;
            rnic: string;
            slot: number;
        };
        MachineLinks: {
            observed_at: string | null;
            /** @enum {string} */
            state: "up" | "degraded" | "down" | "unknown";
        };
        MachinePage: {
            items: components["schemas"]["Machine"][];
            next_cursor: string | null;
        };
        MachineType: {
            ai_pflops: number;
            allocated_through: components["schemas"]["AllocatedThrough"];
            /** @default [] */
            comparisons?: components["schemas"]["Comparison"][];
            cores: number;
            /** @default [] */
            details?: string[];
            fabric: string;
            fp32_pflops?: number | null;
            fp8_pflops?: number | null;
            id: string;
            in_processor_memory_gb: number;
            ipu: string;
            ipus: number;
            name: string;
            notes?: string | null;
            sku?: string | null;
            source: components["schemas"]["Source"];
            /** @default [] */
            streaming_memory_gb?: number[];
            threads: number;
        };
        MachineTypePage: {
            items: components["schemas"]["MachineType"][];
            next_cursor: string | null;
        };
        MaintenanceOf: {
            hardware: string[];
            /** Format: date-time */
            starts_at: string;
            urgent: boolean;
        };
        Me: {
            memberships: components["schemas"]["Membership"][];
            project: components["schemas"]["Project"] | null;
            role: string;
            scopes: string[];
            token: components["schemas"]["Token"];
            user: components["schemas"]["User"] | null;
        };
        Member: {
            email: string;
            /** Format: uuid */
            id: string;
            last_seen_at: string | null;
            role: string;
            /** Format: date-time */
            since: string;
            verified: boolean;
        };
        MemberOf: {
            email: string;
            role: string;
        };
        MemberPage: {
            items: components["schemas"]["Member"][];
            next_cursor: string | null;
        };
        MemberPatch: {
            /** @enum {string} */
            role: "viewer" | "operator" | "billing" | "owner";
        };
        MemberRemoved: {
            email: string;
            /** @default null */
            reason?: string | null;
            role: string;
        };
        MemberRoleChanged: {
            email: string;
            previous: string;
            role: string;
        };
        Membership: {
            account_id: string | null;
            /** Format: uuid */
            id: string;
            project: string | null;
            project_id: string | null;
            role: string;
            /** Format: date-time */
            since: string;
        };
        Message: {
            data: components["schemas"]["MessageData"];
            /** Format: date-time */
            timestamp: string;
            type: string;
        };
        MessageData: {
            account_id: string | null;
            actor: string | null;
            address: string | null;
            agent: string | null;
            data: {
                [key: string]: unknown;
            };
            id: string;
            operation_id: string | null;
            project_id: string | null;
            region: string | null;
            request_id: string | null;
            /** Format: uuid */
            subject_id: string;
            subject_type: string;
        };
        Metrics: {
            /** Format: uuid */
            cluster: string;
            points: components["schemas"]["MetricsPoint"][];
            /** Format: date-time */
            since: string;
            step: number;
            /** Format: date-time */
            until: string;
        };
        MetricsPoint: {
            /** Format: date-time */
            at: string;
            attached_ipus: number | null;
            cpu_percent: number | null;
            link_errors: number | null;
            machines: number | null;
            machines_answered: number | null;
            memory_bytes: number | null;
            memory_used_bytes: number | null;
            observed_at: string | null;
            partition_uptime_percent: number | null;
            power_watts: number | null;
            temperature_celsius: number | null;
            utilisation_percent: number | null;
        };
        Money: {
            amount: string;
            currency: string;
        };
        /** @enum {string} */
        NamedOrder: "-created_at" | "created_at" | "name" | "-name";
        NewInvitation: {
            accepted_at: string | null;
            /** Format: date-time */
            created_at: string;
            email: string;
            emailed: boolean;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            invited_by: string | null;
            member_id: string | null;
            revoked_at: string | null;
            role: string;
            secret: string | null;
            state: string;
            url: string | null;
        };
        NewSession: {
            expires_at: string | null;
            idle_until: string | null;
            path: string | null;
            project: components["schemas"]["Project"] | null;
            role: string;
            scopes: string[];
            signed_in_at: string | null;
            token: components["schemas"]["Token"];
        };
        NewToken: {
            account_id: string | null;
            cost: components["schemas"]["Money"] | null;
            cost_limit: components["schemas"]["Money"] | null;
            /** Format: date-time */
            created_at: string;
            created_by: string | null;
            display_prefix: string;
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            kind: string;
            last_used_at: string | null;
            name: string;
            narrowed: boolean;
            owner: string | null;
            revoked_at: string | null;
            role: string;
            scopes: string[];
            token: string | null;
        };
        NewVipuKey: {
            access_key: string | null;
            access_key_id: string;
            environment: {
                [key: string]: string;
            };
            operation: components["schemas"]["Operation"];
            user: string;
        };
        NewWebhook: {
            /** Format: date-time */
            created_at: string;
            description: string;
            disabled: components["schemas"]["Disabled"] | null;
            disabled_at: string | null;
            enabled: boolean;
            event_types: string[];
            failing_since: string | null;
            /** Format: uuid */
            id: string;
            previous_secret_until: string | null;
            secret: string | null;
            url: string;
            version: number;
        };
        Notifications: {
            available: boolean;
            email: string;
            language: string;
            subscriptions: components["schemas"]["Subscription"][];
        };
        NotificationsReplace: {
            /** @enum {string} */
            language: "en" | "de";
            subscriptions: components["schemas"]["SubscriptionChoice"][];
        };
        Observation: {
            age_seconds: number | null;
            answered: number;
            error: string | null;
            failed_since: string | null;
            finished_at: string | null;
            objects: number;
            region: string;
            source: string | null;
            started_at: string | null;
        };
        ObservationPage: {
            items: components["schemas"]["Observation"][];
            next_cursor: string | null;
        };
        Operation: {
            blocked_by: string | null;
            cancellable: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            deadline_at: string;
            done: boolean;
            error: {
                [key: string]: unknown;
            } | null;
            expected_at: string | null;
            finished_at: string | null;
            /** Format: uuid */
            id: string;
            kind: string;
            progress: number;
            request_id: string;
            requested_by: components["schemas"]["RequestedBy"];
            stage: string | null;
            started_at: string | null;
            state: string;
            steps: components["schemas"]["Step"][];
            target: components["schemas"]["Target"];
        };
        OperationOf: {
            kind: string;
            /** @default false */
            late?: boolean;
            /** @default null */
            partition?: string | null;
        };
        OperationPage: {
            items: components["schemas"]["Operation"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        OperationState: "queued" | "running" | "cancelling" | "succeeded" | "failed" | "cancelled";
        OperationSummary: {
            blocked_by: string | null;
            cancellable: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            deadline_at: string;
            done: boolean;
            expected_at: string | null;
            finished_at: string | null;
            /** Format: uuid */
            id: string;
            kind: string;
            progress: number;
            request_id: string;
            requested_by: components["schemas"]["RequestedBy"];
            stage: string | null;
            started_at: string | null;
            state: string;
            target: components["schemas"]["Target"];
        };
        OperatorEvent: {
            actor: string | null;
            address: string | null;
            agent: string | null;
            /** Format: date-time */
            at: string;
            data: {
                [key: string]: unknown;
            };
            id: string;
            operation_id: string | null;
            project: string | null;
            region: string | null;
            request_id: string | null;
            subject_id: string | null;
            subject_name: string | null;
            subject_type: string;
            type: string;
        };
        OperatorEventPage: {
            items: components["schemas"]["OperatorEvent"][];
            next_cursor: string | null;
        };
        OperatorFaultReport: {
            answer: string | null;
            answered_at: string | null;
            answered_by: string | null;
            /** @enum {string} */
            category: "ipu" | "link" | "server" | "disk" | "network" | "performance" | "other";
            closed_at: string | null;
            /** Format: uuid */
            cluster: string;
            cluster_name: string;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            description: string;
            hardware: string;
            held: boolean;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "machine" | "poplar_server";
            name: string;
            project: string;
            region: string;
            repaired_at: string | null;
            report_id: string | null;
            since: string | null;
            state: components["schemas"]["FaultReportState"];
        };
        OperatorFaultReportPage: {
            items: components["schemas"]["OperatorFaultReport"][];
            next_cursor: string | null;
        };
        OperatorOperation: {
            account: string | null;
            blocked_by: string | null;
            cancellable: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            deadline_at: string;
            done: boolean;
            expected_at: string | null;
            finished_at: string | null;
            forced_reason: string | null;
            /** Format: uuid */
            id: string;
            kind: string;
            name: string | null;
            progress: number;
            project: string | null;
            region: string | null;
            request_id: string;
            requested_by: components["schemas"]["RequestedBy"];
            stage: string | null;
            started_at: string | null;
            state: string;
            target: components["schemas"]["Target"];
        };
        OperatorOperationPage: {
            items: components["schemas"]["OperatorOperation"][];
            next_cursor: string | null;
        };
        OperatorQuotaRequest: {
            answer: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            decided_at: string | null;
            decided_by: string | null;
            granted_limit: number | null;
            /** Format: uuid */
            id: string;
            limit: number;
            machine_type: string;
            present_limit: number;
            project: string;
            reason: string;
            region: string;
            state: components["schemas"]["QuotaRequestState"];
            used: number;
        };
        OperatorQuotaRequestPage: {
            items: components["schemas"]["OperatorQuotaRequest"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        Order: "-created_at" | "created_at";
        /** @enum {string} */
        Origin: "cluster" | "api" | "customer";
        OutOfFunds: {
            /** Format: uuid */
            account: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            reason: "funds";
        };
        OverBudget: {
            budget: components["schemas"]["BudgetRef"];
            /** @enum {string} */
            on: "actual" | "forecast";
            percent: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            reason: "budget";
        };
        OverCostLimit: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            reason: "cost_limit";
            token: components["schemas"]["TokenRef"];
        };
        Overview: {
            /** Format: date-time */
            at: string;
            attention: components["schemas"]["Attention"][];
            attention_count: number;
            clusters: components["schemas"]["ClustersInState"][];
            events: components["schemas"]["Event"][];
            ipus_in_use: number;
            open_fault_reports: number;
            operation_count: number;
            operations: components["schemas"]["OperationSummary"][];
            quotas: components["schemas"]["Quota"][];
            spending: components["schemas"]["OverviewSpending"];
        };
        OverviewSpending: {
            accrued: components["schemas"]["Money"];
            budgets: components["schemas"]["Budget"][];
            forecast: components["schemas"]["Money"];
            month: string;
            per_hour: components["schemas"]["Money"];
        };
        PaidPrice: {
            /** Format: uuid */
            account_id: string;
            contract: boolean;
            list_unit_price: components["schemas"]["Money"];
            region: string;
            sku: string;
            source: string;
            unit: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to: string | null;
        };
        PaidPricePage: {
            items: components["schemas"]["PaidPrice"][];
            next_cursor: string | null;
        };
        Partition: {
            ipus: number;
            name: string;
            reconfigurable: boolean;
        };
        PartitionCreate: {
            /** @default true */
            auto_reset?: boolean;
            gateway_routing?: components["schemas"]["GatewayRouting"] | null;
            /** @default 1 */
            gcds?: number;
            name: string;
            /** @default false */
            reconfigurable?: boolean;
            /** @default false */
            relocatable?: boolean;
            replicas?: number | null;
            routing?: components["schemas"]["Routing"] | null;
            segments?: number | null;
            size: number;
            sync_type?: components["schemas"]["SyncType"] | null;
        };
        PartitionDetails: {
            auto_reset: boolean | null;
            controller: components["schemas"]["ControllerStatus"] | null;
            /** Format: date-time */
            created_at: string;
            gateway_routing: components["schemas"]["GatewayRouting"] | null;
            gcds: number | null;
            /** Format: uuid */
            id: string;
            ipuof_config_at: string | null;
            ipus: components["schemas"]["PartitionIpu"][];
            name: string;
            observed_at: string | null;
            operation: string | null;
            origin: components["schemas"]["Origin"];
            partition_id: string;
            reconfigurable: boolean | null;
            relocatable: boolean | null;
            removed_at: string | null;
            replicas: number | null;
            routing: components["schemas"]["Routing"] | null;
            segments: number | null;
            size: number | null;
            state: components["schemas"]["PartitionState"];
            /** Format: date-time */
            state_entered_at: string;
            state_reason: string | null;
            sync_type: components["schemas"]["SyncType"] | null;
            version: number;
        };
        PartitionIpu: {
            domain: number;
            ipu: number;
            machine: string | null;
            number: number;
            segment: number;
        };
        PartitionOf: {
            /** Format: uuid */
            cluster: string;
            /** @default null */
            reason?: string | null;
        };
        /** @enum {string} */
        PartitionOperationState: "idle" | "creating" | "resetting" | "removing" | "failed" | "unknown";
        PartitionOptions: {
            /** @default true */
            reconfigurable?: boolean;
        };
        PartitionPage: {
            items: components["schemas"]["PartitionSummary"][];
            next_cursor: string | null;
        };
        PartitionReset: {
            /** @default false */
            relocatable?: boolean;
        };
        PartitionSize: {
            fits: boolean;
            reason: ("too_few_free" | "no_aligned_block") | null;
            size: number;
        };
        /** @enum {string} */
        PartitionState: "creating" | "active" | "resetting" | "error" | "unknown" | "missing" | "removing" | "removed";
        PartitionSummary: {
            auto_reset: boolean | null;
            controller: components["schemas"]["ControllerStatus"] | null;
            /** Format: date-time */
            created_at: string;
            gateway_routing: components["schemas"]["GatewayRouting"] | null;
            gcds: number | null;
            /** Format: uuid */
            id: string;
            ipuof_config_at: string | null;
            name: string;
            observed_at: string | null;
            operation: string | null;
            origin: components["schemas"]["Origin"];
            partition_id: string;
            reconfigurable: boolean | null;
            relocatable: boolean | null;
            removed_at: string | null;
            replicas: number | null;
            routing: components["schemas"]["Routing"] | null;
            segments: number | null;
            size: number | null;
            state: components["schemas"]["PartitionState"];
            /** Format: date-time */
            state_entered_at: string;
            state_reason: string | null;
            sync_type: components["schemas"]["SyncType"] | null;
            version: number;
        };
        PasswordChange: {
            current_password: string;
            new_password: string;
        };
        Payment: {
            /** Format: uuid */
            account_id: string;
            amount: components["schemas"]["Money"];
            automatic: boolean;
            /** Format: date-time */
            created_at: string;
            /** @enum {string} */
            direction: "in" | "out";
            failure: string | null;
            finished_at: string | null;
            /** Format: uuid */
            id: string;
            invoice: string | null;
            reference: string;
            /** @enum {string} */
            state: "pending" | "done" | "failed";
            to_wallet: components["schemas"]["Money"] | null;
        };
        PaymentCreate: {
            amount: components["schemas"]["Money"];
            invoice?: string | null;
            reference: string;
        };
        PaymentFailed: {
            amount: components["schemas"]["AmountOfMoney"];
            reason: string;
            reference: string;
        };
        PaymentFailure: {
            reason: string;
        };
        PaymentMethod: {
            customer: string;
            payment_method: string;
            /** Format: date-time */
            set_at: string;
        };
        PaymentMethodSet: {
            customer: string;
            payment_method: string;
        };
        PaymentOf: {
            amount: components["schemas"]["AmountOfMoney"];
            reference: string;
        };
        PaymentOverdue: {
            /** Format: uuid */
            account: string;
            invoice: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            reason: "overdue";
        };
        PaymentPage: {
            items: components["schemas"]["Payment"][];
            next_cursor: string | null;
        };
        Ping: {
            data: components["schemas"]["PingData"];
            /** Format: date-time */
            timestamp: string;
            /** @constant */
            type: "webhook.ping";
        };
        PingData: {
            /** Format: uuid */
            webhook_id: string;
        };
        Place: {
            pod: string;
            slots: number[];
        };
        PlatformTokenCreate: {
            account_id?: string | null;
            expires_at?: string | null;
            name: string;
            /** @enum {string} */
            role: "admin" | "support" | "payer";
            scopes?: string[] | null;
        };
        Pod: {
            /** Format: date-time */
            as_of: string;
            health: {
                [key: string]: number;
            };
            largest_block: number;
            machine_type: string;
            machines: number;
            masks: {
                [key: string]: number;
            };
            name: string;
            position: number;
            rack: string;
            region: string;
            topology: string;
        };
        PodPage: {
            items: components["schemas"]["Pod"][];
            next_cursor: string | null;
        };
        PoplarServer: {
            addresses: string[];
            faults: components["schemas"]["Fault"][];
            health: ("ok" | "unknown" | "degraded" | "failed") | null;
            /** Format: uuid */
            id: string;
            name: string;
            observed_at: string | null;
            s3_access: components["schemas"]["S3Access"] | null;
            ssh: components["schemas"]["Ssh"] | null;
            ssh_keys: string[] | null;
            ssh_keys_since: string | null;
            /** @enum {string} */
            state: "pending" | "running" | "rebooting" | "rebuilding" | "off" | "deleted";
        };
        PreemptionScheduled: {
            /** Format: date-time */
            preempt_at: string;
        };
        PreemptionWithdrawn: {
            /** @enum {string} */
            outcome: "suspended" | "not_needed" | "not_in_use";
            /** Format: date-time */
            preempt_at: string;
        };
        PrepaidPolicy: {
            /**
             * @default [
             *       72,
             *       24,
             *       4
             *     ]
             */
            warn_hours?: number[];
            /** @enum {string} */
            when_empty: "warn" | "refuse_creates" | "suspend";
        };
        Previous: {
            accrued: components["schemas"]["Money"];
            month: string;
            total: components["schemas"]["Money"];
            /** Format: date-time */
            until: string;
        };
        Price: {
            region: string;
            sku: string;
            source: string;
            unit: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to: string | null;
        };
        PriceAddition: {
            account_id?: string | null;
            region: string;
            sku: string;
            source: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to?: string | null;
        };
        PriceAdditions: {
            items: components["schemas"]["PriceAddition"][];
        };
        PriceBookPage: {
            items: components["schemas"]["BookedPrice"][];
            next_cursor: string | null;
        };
        PriceCorrection: {
            account_id: string | null;
            /** Format: date-time */
            created_at: string;
            difference: components["schemas"]["Money"];
            effects: components["schemas"]["CorrectionEffect"][];
            finished_at: string | null;
            hours_left: number;
            /** Format: uuid */
            id: string;
            reason: string;
            region: string;
            sku: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to: string | null;
        };
        PriceCorrectionBody: {
            account_id?: string | null;
            reason: string;
            region: string;
            sku: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to?: string | null;
        };
        PriceCorrectionOrder: {
            account_id?: string | null;
            preview: string;
            reason: string;
            region: string;
            sku: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to?: string | null;
        };
        PriceCorrectionPage: {
            items: components["schemas"]["PriceCorrection"][];
            next_cursor: string | null;
        };
        PriceCorrectionPreview: {
            account_id: string | null;
            difference: components["schemas"]["Money"];
            effects: components["schemas"]["CorrectionEffect"][];
            preview: string;
            region: string;
            replaces: components["schemas"]["CorrectedVersion"][];
            sku: string;
            unit_price: components["schemas"]["Money"];
            /** Format: date-time */
            valid_from: string;
            valid_to: string | null;
        };
        /** @enum {string} */
        PriceOrder: "account" | "-account" | "sku" | "-sku" | "valid_from" | "-valid_from";
        PricePage: {
            items: components["schemas"]["Price"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        PriceState: "past" | "current" | "future";
        PricesAdded: {
            added: number;
            restored: number;
        };
        Problem: {
            code: string;
            detail: string;
            errors?: components["schemas"]["FieldError"][];
            instance: string;
            request_id: string;
            retryable: boolean;
            status: number;
            title: string;
            type: string;
        } & {
            [key: string]: unknown;
        };
        Project: {
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            name: string;
            number: number;
            slug: string;
            version: number;
        };
        ProjectAccount: {
            address: string | null;
            balances: components["schemas"]["Balance"][];
            country: string | null;
            /** Format: date-time */
            created_at: string;
            currency: string;
            e_invoice: components["schemas"]["EInvoiceBuyer"];
            /** Format: uuid */
            id: string;
            legal_name: string | null;
            name: string;
            payment_days: number;
            tax_exempt: boolean;
            tax_id: string | null;
            version: number;
        };
        ProjectCreate: {
            name: string;
            slug: string;
        };
        ProjectPage: {
            items: components["schemas"]["Project"][];
            next_cursor: string | null;
        };
        ProjectPatch: {
            name: string;
        };
        ProjectUsage: {
            clusters: components["schemas"]["Usage"][];
            cost: components["schemas"]["Money"];
            credited_minutes: number;
            minutes: number;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
        };
        ProofKey: {
            current: boolean;
            first_month: string | null;
            last_month: string | null;
            public_key: string;
        };
        ProofKeyPage: {
            items: components["schemas"]["ProofKey"][];
            next_cursor: string | null;
        };
        ProviderSignIn: {
            /** Format: date-time */
            expires_at: string;
            url: string;
        };
        ProviderSignInCreate: {
            invitation?: string | null;
        };
        Quota: {
            limit: number;
            machine_type: string;
            region: string;
            /** @enum {string} */
            unit: "machine" | "gib" | "address";
            used: number;
        };
        QuotaLimit: {
            limit: number;
            machine_type: string;
            region: string;
        };
        QuotaLimits: {
            items: components["schemas"]["QuotaLimit"][];
        };
        /** @enum {string} */
        QuotaOrder: "region" | "-region" | "machine_type" | "-machine_type" | "used" | "-used" | "limit" | "-limit";
        QuotaPage: {
            items: components["schemas"]["Quota"][];
            next_cursor: string | null;
        };
        QuotaRequest: {
            answer: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            decided_at: string | null;
            granted_limit: number | null;
            /** Format: uuid */
            id: string;
            limit: number;
            machine_type: string;
            reason: string;
            region: string;
            state: components["schemas"]["QuotaRequestState"];
        };
        QuotaRequestCreate: {
            limit: number;
            machine_type: string;
            reason: string;
            region: string;
        };
        QuotaRequestDecline: {
            reason: string;
        };
        QuotaRequestGrant: {
            answer?: string | null;
            limit?: number | null;
        };
        QuotaRequestPage: {
            items: components["schemas"]["QuotaRequest"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        QuotaRequestState: "open" | "granted" | "declined" | "withdrawn";
        QuotaRequested: {
            /** @default null */
            answer?: string | null;
            /** @default null */
            granted_limit?: number | null;
            limit: number;
            machine_type: string;
            region: string;
        };
        Rack: {
            domain: number;
            machines: string[];
            name: string;
            topology: string;
        };
        Readiness: {
            status: string;
        };
        Recipe: {
            id: string;
            name: string;
            /** @default false */
            poprt_benchmark?: boolean;
            program?: components["schemas"]["RecipeProgram"] | null;
            source: components["schemas"]["Source"];
            task: components["schemas"]["RecipeTask"];
        };
        RecipeFile: {
            path: string;
            text: string;
        };
        RecipeOffer: {
            expected_price: components["schemas"]["Money"] | null;
            flavor: string | null;
            id: string;
            job_command: string[] | null;
            name: string;
            /** @default false */
            poprt_benchmark?: boolean;
            price_per_minute: components["schemas"]["Money"] | null;
            program?: components["schemas"]["RecipeProgram"] | null;
            source: components["schemas"]["Source"];
            task: components["schemas"]["RecipeTask"];
            working_directory: string | null;
        };
        RecipePage: {
            items: components["schemas"]["Recipe"][];
            next_cursor: string | null;
        };
        RecipeProgram: {
            command: string[];
            commit?: string | null;
            dataset: string;
            dataset_variable?: string | null;
            directory?: string | null;
            /** @default [] */
            files?: components["schemas"]["RecipeFile"][];
            framework: components["schemas"]["Framework"];
            ipus: number;
            minutes?: number | null;
            /** @default [] */
            packages?: string[];
            repository?: string | null;
            /** @default [] */
            setup?: string[][];
        };
        /** @enum {string} */
        RecipeTask: "computer-vision" | "detection" | "segmentation" | "graphs" | "simulation" | "reinforcement-learning" | "probabilistic" | "nlp" | "speech" | "recommenders" | "multimodal" | "other";
        Recipient: {
            /** Format: uuid */
            account_id: string;
            address: string | null;
            country: string | null;
            /** @default {} */
            e_invoice?: components["schemas"]["EInvoiceBuyer"];
            legal_name: string;
            tax_id: string | null;
        };
        RefundCreate: {
            amount: components["schemas"]["Money"];
            reference: string;
        };
        Region: {
            country: string;
            machine_types: string[];
            name: string;
            number: number;
            slug: string;
            source: components["schemas"]["Source"];
        };
        RegionCapacity: {
            /** Format: date-time */
            as_of: string;
            region: string;
            simulated: boolean;
            types: components["schemas"]["TypeCapacity"][];
        };
        RegionPage: {
            items: components["schemas"]["Region"][];
            next_cursor: string | null;
        };
        RepairEnded: {
            hardware: string[];
            /** @enum {string} */
            outcome: "repaired" | "failed" | "cancelled" | "not_needed" | "superseded" | "maintained";
            /** @enum {string} */
            reason: "fault" | "maintenance";
        };
        RepairReschedule: {
            /** Format: date-time */
            starts_at: string;
        };
        RepairScheduled: {
            hardware: string[];
            /** Format: date-time */
            latest_at: string;
            /** @enum {string} */
            reason: "fault" | "maintenance";
            /** Format: date-time */
            starts_at: string;
        };
        RepairStarted: {
            hardware: string[];
            /** @enum {string} */
            reason: "fault" | "maintenance";
        };
        RepairWaits: {
            hardware: string[];
            /** @enum {string} */
            reason: "fault" | "maintenance";
            /** @enum {string} */
            waits_for: "capacity" | "limit" | "operator";
        };
        RepairWindow: {
            days: components["schemas"]["Weekday"][];
            minutes: number;
            starts_at: string;
            time_zone: string;
        };
        Report: {
            columns: string[];
            posted_until: string | null;
            rows: components["schemas"]["ReportRow"][];
            /** Format: date-time */
            since: string;
            totals: components["schemas"]["ReportSums"][];
            /** Format: date-time */
            until: string;
        };
        ReportRow: {
            cost: components["schemas"]["Money"];
            credited_machine_minutes: number;
            group: {
                [key: string]: string | null;
            };
            list_cost: components["schemas"]["Money"];
            machine_minutes: number;
            minutes: number;
        };
        ReportSums: {
            cost: components["schemas"]["Money"];
            credited_machine_minutes: number;
            list_cost: components["schemas"]["Money"];
            machine_minutes: number;
            minutes: number;
        };
        RequestTrace: {
            /** Format: date-time */
            as_of: string;
            events: components["schemas"]["Event"][];
            logs: components["schemas"]["LogHint"][];
            operations: components["schemas"]["Operation"][];
            request_id: string;
            work_items: components["schemas"]["WorkItem"][];
        };
        RequestedBy: {
            kind: string;
            name: string | null;
            token_id: string | null;
        };
        Reservation: {
            cancel_until: string | null;
            clusters: string[];
            count: number;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            currency: string;
            /** Format: date-time */
            ends_at: string;
            flavor: string;
            /** Format: uuid */
            id: string;
            left: number;
            machine_type: string;
            machines: number;
            name: string;
            region: string;
            sku: string;
            /** Format: date-time */
            starts_at: string;
            state: components["schemas"]["ReservationState"];
            /** Format: date-time */
            state_entered_at: string;
        };
        ReservationCapacity: {
            available: boolean;
            fits: number;
            why_not: components["schemas"]["WhyNot"] | null;
        };
        ReservationCreate: {
            /** @default 1 */
            count?: number;
            /** Format: date-time */
            ends_at: string;
            flavor: string;
            name: string;
            region: string;
            /** Format: date-time */
            starts_at: string;
        };
        ReservationEstimate: {
            cancel_until: string | null;
            capacity: components["schemas"]["ReservationCapacity"];
            cost: components["schemas"]["Money"];
            machines: number;
            minutes: number;
            price_per_minute: components["schemas"]["Money"];
            quota: components["schemas"]["EstimateQuota"];
            sku: string;
        };
        ReservationPage: {
            items: components["schemas"]["Reservation"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        ReservationState: "scheduled" | "active" | "ended" | "cancelled";
        ReservedCapacity: {
            count: number;
            /** Format: date-time */
            ends_at: string;
            flavor: string;
            name: string;
            region: string;
            /** Format: date-time */
            starts_at: string;
        };
        Resize: {
            from_flavor: string;
            moves: boolean | null;
            to_flavor: string;
        };
        ResizeEstimate: {
            capacity: components["schemas"]["EstimateCapacity"];
            expected_seconds: number;
            from_flavor: string;
            moves: boolean | null;
            partitions: components["schemas"]["ResizedPartition"][];
            price_after: components["schemas"]["ClusterPrice"];
            price_before: components["schemas"]["ClusterPrice"];
            quota: components["schemas"]["EstimateQuota"];
            to_flavor: string;
        };
        ResizedPartition: {
            ipus: number | null;
            ipus_after: number | null;
            name: string;
        };
        /** @enum {string} */
        Routing: "dnc" | "swnc" | "btnc" | "ringswnc";
        S3Access: {
            connections: string[];
            current: boolean;
            mounts: string[];
            /** Format: date-time */
            observed_at: string;
        };
        S3Connection: {
            access_key_id: string;
            attachable: boolean;
            bucket: string;
            /** Format: date-time */
            created_at: string;
            endpoint: string;
            /** Format: uuid */
            id: string;
            name: string;
            prefix: string;
            region: string;
            test: components["schemas"]["S3Test"] | null;
        };
        S3ConnectionCreate: {
            access_key_id: string;
            /** @default false */
            attachable?: boolean;
            bucket: string;
            endpoint: string;
            name: string;
            /** @default  */
            prefix?: string;
            /** @default us-east-1 */
            region?: string;
            secret: string;
        };
        S3ConnectionPage: {
            items: components["schemas"]["S3Connection"][];
            next_cursor: string | null;
        };
        S3ConnectionPatch: {
            access_key_id?: string;
            attachable?: boolean;
            bucket?: string;
            endpoint?: string;
            prefix?: string;
            region?: string;
            secret?: string;
        };
        /** @enum {string} */
        S3Failure: "secret" | "name" | "address" | "connection" | "tls" | "credentials" | "bucket" | "region" | "permission" | "service";
        S3Test: {
            /** Format: date-time */
            at: string;
            detail: string | null;
            failed: components["schemas"]["S3Failure"] | null;
        };
        ScheduleMisses: {
            action: components["schemas"]["ScheduledAction"];
            /** Format: date-time */
            due_at: string;
            /** @enum {string} */
            waits_for: "operation" | "budget_reached" | "capacity_exhausted" | "cost_limit_reached" | "funds_exhausted" | "payment_overdue" | "quota_exceeded" | "state_conflict" | "resume_failed";
        };
        ScheduleStarts: {
            action: components["schemas"]["ScheduledAction"];
            /** Format: date-time */
            due_at: string;
        };
        ScheduleWaits: {
            action: components["schemas"]["ScheduledAction"];
            detail: string;
            /** Format: date-time */
            due_at: string;
            retry_at: string | null;
            /** @enum {string} */
            waits_for: "operation" | "budget_reached" | "capacity_exhausted" | "cost_limit_reached" | "funds_exhausted" | "payment_overdue" | "quota_exceeded" | "state_conflict" | "resume_failed";
        };
        /** @enum {string} */
        ScheduledAction: "suspend" | "resume";
        ScheduledRepair: {
            /** Format: date-time */
            announced_at: string;
            hardware: string[];
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            latest_at: string;
            operation: string | null;
            /** @enum {string} */
            reason: "fault" | "maintenance";
            /** Format: date-time */
            starts_at: string;
            waits_for: ("capacity" | "limit" | "operator") | null;
        };
        Seller: {
            address: string;
            bank: string | null;
            country: string;
            e_invoice: components["schemas"]["EInvoiceSeller"];
            legal_name: string;
            tax_id: string | null;
            version: number;
        };
        SellerPatch: {
            address?: string | null;
            bank?: string | null;
            country?: string | null;
            e_invoice?: components["schemas"]["EInvoiceSeller"] | null;
            legal_name?: string | null;
            tax_id?: string | null;
        };
        ServerPage: {
            items: components["schemas"]["PoplarServer"][];
            next_cursor: string | null;
        };
        ServersRebuilt: {
            /** @enum {string} */
            disk: "keep" | "wipe";
            image: string;
            servers: string[];
        };
        Service: {
            attempt: number;
            /** Format: uuid */
            cluster: string;
            command: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            directory: string | null;
            ended_at: string | null;
            ended_by: ("program" | "request" | "server" | "cluster") | null;
            environment: string[];
            exit_status: number | null;
            failures: number;
            health: components["schemas"]["ServiceHealth"] | null;
            /** Format: uuid */
            id: string;
            log_bytes: number;
            max_restarts: number;
            name: string;
            /** Format: date-time */
            next_start_at: string;
            observed_at: string | null;
            poplar_server: string;
            port: number;
            requested_by: components["schemas"]["RequestedBy"];
            started_at: string | null;
            state: components["schemas"]["ServiceState"];
            state_reason: string | null;
            stop_requested_at: string | null;
        };
        ServiceCreate: {
            command: string[];
            directory?: string | null;
            /** @default {} */
            environment?: {
                [key: string]: string;
            };
            health_check?: components["schemas"]["ServiceHealthCheck"] | null;
            /** @default 10 */
            max_restarts?: number;
            name: string;
            poplar_server?: string | null;
            port: number;
        };
        ServiceEnded: {
            attempt: number;
            /** Format: uuid */
            cluster: string;
            /** @default null */
            ended_by?: ("program" | "request" | "server" | "cluster") | null;
            /** @default null */
            exit_status?: number | null;
            name: string;
            reason: string;
        };
        ServiceHealth: {
            checked_at: string | null;
            detail: string | null;
            failed: number;
            failures: number;
            interval_seconds: number;
            path: string;
            start_seconds: number;
            state: components["schemas"]["ServiceHealthState"];
            timeout_seconds: number;
        };
        ServiceHealthCheck: {
            /** @default 3 */
            failures?: number;
            /** @default 10 */
            interval_seconds?: number;
            path: string;
            /** @default 300 */
            start_seconds?: number;
            /** @default 5 */
            timeout_seconds?: number;
        };
        /** @enum {string} */
        ServiceHealthState: "unknown" | "healthy" | "failing";
        ServiceLog: {
            complete: boolean;
            items: components["schemas"]["ServiceLogPart"][];
            next: number;
            state: components["schemas"]["ServiceState"];
        };
        ServiceLogPart: {
            attempt: number;
            number: number;
            /** Format: date-time */
            read_at: string;
            text: string;
        };
        ServiceMetrics: {
            points: components["schemas"]["ServiceMetricsPoint"][];
            /** Format: uuid */
            service: string;
            /** Format: date-time */
            since: string;
            step: number;
            /** Format: date-time */
            until: string;
        };
        ServiceMetricsPoint: {
            /** Format: date-time */
            at: string;
            errors: number;
            mean_seconds: number | null;
            p50_seconds: number | null;
            p95_seconds: number | null;
            p99_seconds: number | null;
            requests: number;
            requests_per_second: number;
        };
        ServiceOf: {
            attempt: number;
            /** Format: uuid */
            cluster: string;
            name: string;
        };
        ServicePage: {
            items: components["schemas"]["Service"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        ServiceState: "starting" | "running" | "failed" | "stopped";
        Session: {
            expires_at: string | null;
            idle_until: string | null;
            project: components["schemas"]["Project"] | null;
            role: string;
            scopes: string[];
            signed_in_at: string | null;
            token: components["schemas"]["Token"];
        };
        SessionCreate: {
            authorization_code?: string | null;
            code?: string | null;
            email?: string | null;
            password?: string | null;
            project?: string | null;
            state?: string | null;
            token?: string | null;
        };
        SessionSwitch: {
            /** Format: uuid */
            membership_id: string;
        };
        SettledInvoice: {
            amount: components["schemas"]["Money"];
            number: string;
        };
        SignInLink: {
            code: string | null;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            url: string | null;
        };
        SignInProvider: {
            name: string;
            title: string;
        };
        SignInProviderList: {
            items: components["schemas"]["SignInProvider"][];
        };
        SimulatedFault: {
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            detail: string | null;
            /** Format: uuid */
            id: string;
            kind: components["schemas"]["SimulatedFaultKind"];
            link: ("internal" | "next" | "gateway") | null;
            name: string;
            region: string;
            state: components["schemas"]["SimulatedFaultState"];
            /** Format: date-time */
            state_entered_at: string;
        };
        SimulatedFaultCreate: {
            kind: components["schemas"]["SimulatedFaultKind"];
            link?: ("internal" | "next" | "gateway") | null;
            name: string;
        };
        /** @enum {string} */
        SimulatedFaultKind: "machine" | "link" | "host" | "controllers";
        SimulatedFaultPage: {
            items: components["schemas"]["SimulatedFault"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        SimulatedFaultState: "requested" | "in_force" | "ending" | "ended" | "failed";
        SiteFinding: {
            detail: string;
            /** Format: date-time */
            first_seen_at: string;
            host: string | null;
            /** Format: date-time */
            last_seen_at: string;
            left_because: string | null;
            object: string;
            project: string | null;
            region: string;
            repair: ("running" | "succeeded" | "failed") | null;
            rule: string;
            sightings: number;
        };
        SiteFindingPage: {
            items: components["schemas"]["SiteFinding"][];
            next_cursor: string | null;
        };
        SkuSpending: {
            accrued: components["schemas"]["Money"];
            forecast: components["schemas"]["Money"];
            previous: components["schemas"]["Money"];
            sku: string;
        };
        Snapshot: {
            cluster: string | null;
            cluster_name: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            currency: string;
            deleted_at: string | null;
            /** Format: uuid */
            id: string;
            image: string | null;
            name: string;
            poplar_server: string | null;
            region: string;
            size_gib: number | null;
            sku: string;
            state: components["schemas"]["SnapshotState"];
            /** Format: date-time */
            state_entered_at: string;
            state_reason: string | null;
            tags: {
                [key: string]: string;
            };
            volume: string | null;
            volume_name: string | null;
        };
        SnapshotCreate: {
            cluster?: string | null;
            name: string;
            poplar_server?: string | null;
            tags?: {
                [key: string]: string;
            };
            volume?: string | null;
        };
        SnapshotFailed: {
            /** @default null */
            cluster?: string | null;
            name: string;
            /** @default null */
            poplar_server?: string | null;
            reason: string;
            region: string;
            /** @default null */
            size_gib?: number | null;
            /** @default null */
            volume?: string | null;
        };
        SnapshotOf: {
            /** @default null */
            cluster?: string | null;
            name: string;
            /** @default null */
            poplar_server?: string | null;
            region: string;
            /** @default null */
            size_gib?: number | null;
            /** @default null */
            volume?: string | null;
        };
        SnapshotPage: {
            items: components["schemas"]["Snapshot"][];
            next_cursor: string | null;
        };
        SnapshotPatch: {
            name?: string;
            tags?: {
                [key: string]: string;
            };
        };
        /** @enum {string} */
        SnapshotState: "creating" | "available" | "deleting" | "deleted" | "error";
        Source: {
            id: string;
            title: string;
            url?: string | null;
        };
        Ssh: {
            command: string;
            host: string;
            host_key: string;
            host_key_fingerprint: string;
            port: number;
            user: string;
        };
        SshAuthority: {
            /** Format: date-time */
            created_at: string;
            fingerprint: string;
            /** Format: uuid */
            id: string;
            pending_clusters: string[];
            public_key: string;
        };
        SshAuthorityOf: {
            fingerprint: string;
            former: string | null;
        };
        SshCertificate: {
            authority: string;
            certificate: string;
            fingerprint: string;
            key_id: string;
            serial: number;
            /** Format: date-time */
            valid_from: string;
            /** Format: date-time */
            valid_until: string;
        };
        SshCertificateOf: {
            authority: string;
            fingerprint: string;
            key_id: string;
            serial: number;
            /** Format: date-time */
            valid_until: string;
        };
        SshCertificateRequest: {
            public_key: string;
            valid_seconds?: number | null;
        };
        SshKey: {
            /** Format: date-time */
            created_at: string;
            fingerprint: string;
            /** Format: uuid */
            id: string;
            name: string;
            public_key: string;
            type: string;
        };
        SshKeyCreate: {
            name: string;
            public_key: string;
        };
        SshKeyPage: {
            items: components["schemas"]["SshKey"][];
            next_cursor: string | null;
        };
        Step: {
            attempts: number;
            checks: number;
            detail: string | null;
            finished_at: string | null;
            name: string;
            stage: string;
            started_at: string | null;
            state: string;
        };
        Stuck: {
            /** Format: date-time */
            as_of: string;
            blocked_by: string | null;
            cluster: string | null;
            id: string;
            kind: string;
            name: string | null;
            /** @enum {string} */
            object: "operation" | "cluster" | "work_item";
            over_seconds: number;
            project: string | null;
            region: string | null;
            remedy: string;
            /** Format: date-time */
            since: string;
            sla_seconds: number | null;
            step: string | null;
        };
        StuckPage: {
            items: components["schemas"]["Stuck"][];
            next_cursor: string | null;
        };
        Subscription: {
            event_types: string[];
            project: string;
            /** Format: uuid */
            project_id: string;
        };
        SubscriptionChoice: {
            event_types: ("account.*" | "account.funds_exhausted" | "account.funds_low" | "account.funds_restored" | "account.restricted" | "account.restriction_lifted" | "account.top_up_paused" | "account.top_up_requested" | "account.top_up_resumed" | "account.topped_up" | "address.*" | "address.attached" | "address.available" | "address.created" | "address.deleted" | "address.detached" | "address.failed" | "address.updated" | "audit.*" | "audit.repaired" | "budget.*" | "budget.created" | "budget.deleted" | "budget.forecast_reached" | "budget.threshold_reached" | "budget.updated" | "cluster.*" | "cluster.active" | "cluster.created" | "cluster.degraded" | "cluster.delete_forced" | "cluster.deleted" | "cluster.deleting" | "cluster.error" | "cluster.expiring" | "cluster.hardware_isolated" | "cluster.hardware_replaced" | "cluster.idle_suspended" | "cluster.preempted" | "cluster.preemption_scheduled" | "cluster.preemption_withdrawn" | "cluster.rebooting" | "cluster.rebuilding" | "cluster.recovered" | "cluster.repair_ended" | "cluster.repair_scheduled" | "cluster.repair_started" | "cluster.repair_waiting" | "cluster.resized" | "cluster.resizing" | "cluster.resuming" | "cluster.schedule_missed" | "cluster.schedule_started" | "cluster.schedule_waiting" | "cluster.servers_rebuilt" | "cluster.suspend_forced" | "cluster.suspended" | "cluster.suspending" | "cluster.updated" | "credit_note.*" | "credit_note.issued" | "fault_report.*" | "fault_report.closed" | "fault_report.confirmed" | "fault_report.dismissed" | "fault_report.opened" | "fault_report.repaired" | "invoice.*" | "invoice.issued" | "invoice.overdue" | "job.*" | "job.failed" | "job.queued" | "job.retried" | "job.started" | "job.stopped" | "job.succeeded" | "maintenance.*" | "maintenance.announced" | "member.*" | "member.invited" | "member.joined" | "member.removed" | "member.role_changed" | "operation.*" | "operation.cancelled" | "operation.cancelling" | "operation.created" | "operation.failed" | "operation.succeeded" | "partition.*" | "partition.active" | "partition.creating" | "partition.error" | "partition.missing" | "partition.removed" | "partition.removing" | "partition.resetting" | "partition.unknown" | "project.*" | "project.account_changed" | "project.charges_corrected" | "project.created" | "project.deleted" | "project.updated" | "quota.*" | "quota.updated" | "quota_request.*" | "quota_request.declined" | "quota_request.granted" | "quota_request.opened" | "quota_request.withdrawn" | "reservation.*" | "reservation.active" | "reservation.cancelled" | "reservation.created" | "reservation.ended" | "service.*" | "service.created" | "service.failed" | "service.restarted" | "service.started" | "service.stopped" | "snapshot.*" | "snapshot.available" | "snapshot.created" | "snapshot.deleted" | "snapshot.failed" | "snapshot.updated" | "ssh_authority.*" | "ssh_authority.rotated" | "ssh_certificate.*" | "ssh_certificate.issued" | "ssh_key.*" | "ssh_key.created" | "ssh_key.deleted" | "terminal.*" | "terminal.closed" | "terminal.opened" | "token.*" | "token.created" | "token.revoked" | "token.rotated" | "volume.*" | "volume.attached" | "volume.available" | "volume.created" | "volume.deleted" | "volume.detached" | "volume.failed" | "volume.resized" | "volume.updated" | "webhook.*" | "webhook.created" | "webhook.deleted" | "webhook.disabled" | "webhook.secret_rotated" | "webhook.updated")[];
            project: string;
        };
        Summary: {
            accrued: components["schemas"]["Money"];
            balances: components["schemas"]["Balance"][];
            budgets: components["schemas"]["Budget"][];
            cluster_count: number;
            clusters: components["schemas"]["ClusterSpending"][];
            credit: components["schemas"]["Money"];
            flavors: components["schemas"]["FlavorSpending"][];
            forecast: components["schemas"]["Money"];
            month: string;
            /** Format: date-time */
            observed_at: string;
            per_hour: components["schemas"]["Money"];
            posted: components["schemas"]["Money"];
            posted_until: string | null;
            previous: components["schemas"]["Previous"];
            projected: components["schemas"]["Money"];
            /** Format: date-time */
            since: string;
            skus: components["schemas"]["SkuSpending"][];
            tags: components["schemas"]["TagSpending"][];
            tax: components["schemas"]["ExpectedTax"] | null;
            unposted: components["schemas"]["Money"];
            unpriced_minutes: number;
            /** Format: date-time */
            until: string;
            unusual_days: components["schemas"]["UnusualDay"][];
        };
        SuspendedIdle: {
            /** Format: date-time */
            idle_since: string;
            idle_suspend_minutes: number;
            poplar_servers: components["schemas"]["IdleServer"][];
        };
        /** @enum {string} */
        SyncType: "c2-compatible" | "pod-native" | "pod-native-replicated-pipeline";
        TagSpending: {
            accrued: components["schemas"]["Money"];
            forecast: components["schemas"]["Money"];
            key: string;
            previous: components["schemas"]["Money"];
            value: string;
        };
        Target: {
            cluster: string | null;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            type: "cluster" | "partition" | "export";
        };
        TaxRate: {
            country: string;
            /** Format: uuid */
            id: string;
            kind: string;
            name: string;
            rate: string;
            source: string;
            /** Format: date */
            valid_from: string;
            valid_to: string | null;
        };
        TaxRateCreate: {
            country: string;
            /** @default standard */
            kind?: string;
            /** @default VAT */
            name?: string;
            rate: string;
            source: string;
            /** Format: date */
            valid_from: string;
        };
        TaxRatePage: {
            items: components["schemas"]["TaxRate"][];
            next_cursor: string | null;
        };
        TerminalClosed: {
            /** @default null */
            actor?: string | null;
            /** Format: uuid */
            cluster: string;
            /** @enum {string} */
            ended_by: "shell" | "client" | "idle" | "time_limit" | "access" | "server" | "service";
            poplar_server: string;
            seconds: number;
        };
        TerminalOf: {
            /** @default null */
            actor?: string | null;
            /** Format: uuid */
            cluster: string;
            poplar_server: string;
        };
        Token: {
            account_id: string | null;
            cost: components["schemas"]["Money"] | null;
            cost_limit: components["schemas"]["Money"] | null;
            /** Format: date-time */
            created_at: string;
            created_by: string | null;
            display_prefix: string;
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            kind: string;
            last_used_at: string | null;
            name: string;
            narrowed: boolean;
            owner: string | null;
            revoked_at: string | null;
            role: string;
            scopes: string[];
        };
        TokenCreate: {
            cost_limit?: components["schemas"]["Money"] | null;
            expires_at?: string | null;
            name: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "billing" | "owner";
            scopes?: string[] | null;
            /** @default false */
            service?: boolean;
        };
        TokenMade: {
            name: string;
            role: string;
            /** @default null */
            scopes?: string[] | null;
        };
        TokenPage: {
            items: components["schemas"]["Token"][];
            next_cursor: string | null;
        };
        TokenRef: {
            /** Format: uuid */
            id: string;
            name: string;
        };
        TokenReplaced: {
            /** Format: uuid */
            replaced_by: string;
        };
        TokenRotate: {
            expires_at?: string | null;
            /** @default 0 */
            keep_previous_seconds?: number;
        };
        Tool: {
            id: string;
            kinds: components["schemas"]["ToolKind"][];
            name: string;
            source: components["schemas"]["Source"];
        };
        /** @enum {string} */
        ToolKind: "framework" | "data-platform" | "language" | "data-resource" | "visualisation" | "sdk";
        ToolPage: {
            items: components["schemas"]["Tool"][];
            next_cursor: string | null;
        };
        TopUp: {
            amount: components["schemas"]["Money"];
            below: components["schemas"]["Money"] | null;
            below_hours: number | null;
            month_limit: components["schemas"]["Money"];
            pause_reason: ("payment_failed" | "month_limit") | null;
            paused_at: string | null;
            reference: string | null;
            this_month: components["schemas"]["Money"];
        };
        TopUpCreate: {
            amount: components["schemas"]["Money"];
        };
        TopUpOf: {
            amount: components["schemas"]["AmountOfMoney"];
            /** Format: uuid */
            payment: string;
            reference: string;
        };
        TopUpPaused: {
            detail: string;
            /** @enum {string} */
            reason: "payment_failed" | "month_limit";
        };
        TopUpPolicy: {
            amount: components["schemas"]["Money"];
            below?: components["schemas"]["Money"] | null;
            below_hours?: number | null;
            month_limit: components["schemas"]["Money"];
        };
        Topology: {
            free_ipus: number;
            largest_partition: number;
            links: components["schemas"]["Link"][];
            machines: components["schemas"]["TopologyMachine"][];
            observed_at: string | null;
            partition_sizes: components["schemas"]["PartitionSize"][];
            partitions: components["schemas"]["TopologyPartition"][];
            racks: components["schemas"]["Rack"][];
        };
        TopologyMachine: {
            faults: components["schemas"]["Fault"][];
            /** @enum {string} */
            health: "ok" | "unknown" | "degraded" | "failed";
            ipus: components["schemas"]["Ipu"][];
            name: string;
            observed_at: string | null;
            rack: string;
            slot: number;
        };
        TopologyPartition: {
            controller: components["schemas"]["ControllerStatus"] | null;
            ipus: components["schemas"]["PartitionIpu"][];
            name: string;
            origin: components["schemas"]["Origin"];
            partition_id: string;
            size: number | null;
            state: components["schemas"]["PartitionState"];
            state_reason: string | null;
        };
        TypeCapacity: {
            blocks: {
                [key: string]: number;
            };
            expiries: components["schemas"]["Expiries"][];
            flavors: components["schemas"]["Capacity"][];
            fragmentation: number | null;
            free_hosts: number;
            largest_block: number;
            machine_type: string;
            states: {
                [key: string]: number;
            };
        };
        UnusualDay: {
            cost: components["schemas"]["Money"];
            /** Format: date */
            day: string;
            difference: components["schemas"]["Money"];
            usual: components["schemas"]["Money"];
        };
        Usage: {
            /** Format: uuid */
            cluster_id: string;
            cost: components["schemas"]["Money"];
            credited_minutes: number;
            flavor: string;
            minutes: number;
            name: string;
            region: string;
            running: boolean;
            since: string | null;
            slices: components["schemas"]["UsageSlice"][];
            /** Format: date-time */
            until: string;
        };
        UsageSlice: {
            cost: components["schemas"]["Money"];
            credited_machines: number;
            /** Format: date-time */
            ended_at: string;
            flavor: string;
            machines: number;
            minutes: number;
            sku: string;
            /** Format: date-time */
            started_at: string;
            unit_price: components["schemas"]["Money"];
        };
        UsePeriod: {
            days: components["schemas"]["Weekday"][];
            ends_at: string;
            starts_at: string;
        };
        User: {
            /** Format: date-time */
            created_at: string;
            email: string;
            /** Format: uuid */
            id: string;
            password_set_at: string | null;
            verified_at: string | null;
        };
        Validation: {
            ended_at: string | null;
            findings: string | null;
            /** Format: uuid */
            id: string;
            machine: string;
            name: string | null;
            pod: string;
            /** @enum {string} */
            reason: "intake" | "release" | "repair" | "operator";
            region: string;
            /** Format: date-time */
            requested_at: string;
            requested_by: string | null;
            result: ("passed" | "failed" | "abandoned") | null;
            started_at: string | null;
            /** @enum {string} */
            state: "waiting" | "testing" | "clearing" | "ended";
            tested_at: string | null;
        };
        ValidationPage: {
            items: components["schemas"]["Validation"][];
            next_cursor: string | null;
        };
        Vipu: {
            access_key: components["schemas"]["AccessKey"] | null;
            authority: string | null;
            environment: {
                [key: string]: string;
            };
            host: string;
            partition: string | null;
            port: number;
            user: string | null;
        };
        Volume: {
            cluster: string | null;
            cluster_name: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            currency: string;
            deleted_at: string | null;
            /** Format: uuid */
            id: string;
            mount_path: string | null;
            name: string;
            poplar_server: string | null;
            region: string;
            resizing_to_gib: number | null;
            size_gib: number;
            sku: string;
            snapshot: string | null;
            state: components["schemas"]["VolumeState"];
            /** Format: date-time */
            state_entered_at: string;
            state_reason: string | null;
            tags: {
                [key: string]: string;
            };
        };
        VolumeAttach: {
            /** Format: uuid */
            cluster: string;
            poplar_server?: string | null;
        };
        VolumeAttachedTo: {
            /** Format: uuid */
            cluster: string;
            name: string;
            poplar_server: string;
            region: string;
            size_gib: number;
        };
        VolumeCreate: {
            name: string;
            region: string;
            size_gib: number;
            snapshot?: string | null;
            tags?: {
                [key: string]: string;
            };
        };
        VolumeFailed: {
            name: string;
            reason: string;
            region: string;
            size_gib: number;
        };
        VolumeOf: {
            name: string;
            region: string;
            size_gib: number;
        };
        VolumePage: {
            items: components["schemas"]["Volume"][];
            next_cursor: string | null;
        };
        VolumePatch: {
            name?: string;
            tags?: {
                [key: string]: string;
            };
        };
        VolumeResize: {
            size_gib: number;
        };
        /** @enum {string} */
        VolumeState: "creating" | "available" | "attaching" | "attached" | "detaching" | "resizing" | "deleting" | "deleted" | "error";
        WaitingDevice: {
            address: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            name: string;
            project: string | null;
        };
        Webhook: {
            /** Format: date-time */
            created_at: string;
            description: string;
            disabled: components["schemas"]["Disabled"] | null;
            disabled_at: string | null;
            enabled: boolean;
            event_types: string[];
            failing_since: string | null;
            /** Format: uuid */
            id: string;
            previous_secret_until: string | null;
            url: string;
            version: number;
        };
        WebhookCreate: {
            /** @default  */
            description?: string;
            event_types?: ("account.*" | "account.funds_exhausted" | "account.funds_low" | "account.funds_restored" | "account.restricted" | "account.restriction_lifted" | "account.top_up_paused" | "account.top_up_requested" | "account.top_up_resumed" | "account.topped_up" | "address.*" | "address.attached" | "address.available" | "address.created" | "address.deleted" | "address.detached" | "address.failed" | "address.updated" | "audit.*" | "audit.repaired" | "budget.*" | "budget.created" | "budget.deleted" | "budget.forecast_reached" | "budget.threshold_reached" | "budget.updated" | "cluster.*" | "cluster.active" | "cluster.created" | "cluster.degraded" | "cluster.delete_forced" | "cluster.deleted" | "cluster.deleting" | "cluster.error" | "cluster.expiring" | "cluster.hardware_isolated" | "cluster.hardware_replaced" | "cluster.idle_suspended" | "cluster.preempted" | "cluster.preemption_scheduled" | "cluster.preemption_withdrawn" | "cluster.rebooting" | "cluster.rebuilding" | "cluster.recovered" | "cluster.repair_ended" | "cluster.repair_scheduled" | "cluster.repair_started" | "cluster.repair_waiting" | "cluster.resized" | "cluster.resizing" | "cluster.resuming" | "cluster.schedule_missed" | "cluster.schedule_started" | "cluster.schedule_waiting" | "cluster.servers_rebuilt" | "cluster.suspend_forced" | "cluster.suspended" | "cluster.suspending" | "cluster.updated" | "credit_note.*" | "credit_note.issued" | "fault_report.*" | "fault_report.closed" | "fault_report.confirmed" | "fault_report.dismissed" | "fault_report.opened" | "fault_report.repaired" | "invoice.*" | "invoice.issued" | "invoice.overdue" | "job.*" | "job.failed" | "job.queued" | "job.retried" | "job.started" | "job.stopped" | "job.succeeded" | "maintenance.*" | "maintenance.announced" | "member.*" | "member.invited" | "member.joined" | "member.removed" | "member.role_changed" | "operation.*" | "operation.cancelled" | "operation.cancelling" | "operation.created" | "operation.failed" | "operation.succeeded" | "partition.*" | "partition.active" | "partition.creating" | "partition.error" | "partition.missing" | "partition.removed" | "partition.removing" | "partition.resetting" | "partition.unknown" | "project.*" | "project.account_changed" | "project.charges_corrected" | "project.created" | "project.deleted" | "project.updated" | "quota.*" | "quota.updated" | "quota_request.*" | "quota_request.declined" | "quota_request.granted" | "quota_request.opened" | "quota_request.withdrawn" | "reservation.*" | "reservation.active" | "reservation.cancelled" | "reservation.created" | "reservation.ended" | "service.*" | "service.created" | "service.failed" | "service.restarted" | "service.started" | "service.stopped" | "snapshot.*" | "snapshot.available" | "snapshot.created" | "snapshot.deleted" | "snapshot.failed" | "snapshot.updated" | "ssh_authority.*" | "ssh_authority.rotated" | "ssh_certificate.*" | "ssh_certificate.issued" | "ssh_key.*" | "ssh_key.created" | "ssh_key.deleted" | "terminal.*" | "terminal.closed" | "terminal.opened" | "token.*" | "token.created" | "token.revoked" | "token.rotated" | "volume.*" | "volume.attached" | "volume.available" | "volume.created" | "volume.deleted" | "volume.detached" | "volume.failed" | "volume.resized" | "volume.updated" | "webhook.*" | "webhook.created" | "webhook.deleted" | "webhook.disabled" | "webhook.secret_rotated" | "webhook.updated")[];
            url: string;
        };
        WebhookPage: {
            items: components["schemas"]["Webhook"][];
            next_cursor: string | null;
        };
        WebhookPatch: {
            description?: string | null;
            enabled?: boolean | null;
            event_types?: ("account.*" | "account.funds_exhausted" | "account.funds_low" | "account.funds_restored" | "account.restricted" | "account.restriction_lifted" | "account.top_up_paused" | "account.top_up_requested" | "account.top_up_resumed" | "account.topped_up" | "address.*" | "address.attached" | "address.available" | "address.created" | "address.deleted" | "address.detached" | "address.failed" | "address.updated" | "audit.*" | "audit.repaired" | "budget.*" | "budget.created" | "budget.deleted" | "budget.forecast_reached" | "budget.threshold_reached" | "budget.updated" | "cluster.*" | "cluster.active" | "cluster.created" | "cluster.degraded" | "cluster.delete_forced" | "cluster.deleted" | "cluster.deleting" | "cluster.error" | "cluster.expiring" | "cluster.hardware_isolated" | "cluster.hardware_replaced" | "cluster.idle_suspended" | "cluster.preempted" | "cluster.preemption_scheduled" | "cluster.preemption_withdrawn" | "cluster.rebooting" | "cluster.rebuilding" | "cluster.recovered" | "cluster.repair_ended" | "cluster.repair_scheduled" | "cluster.repair_started" | "cluster.repair_waiting" | "cluster.resized" | "cluster.resizing" | "cluster.resuming" | "cluster.schedule_missed" | "cluster.schedule_started" | "cluster.schedule_waiting" | "cluster.servers_rebuilt" | "cluster.suspend_forced" | "cluster.suspended" | "cluster.suspending" | "cluster.updated" | "credit_note.*" | "credit_note.issued" | "fault_report.*" | "fault_report.closed" | "fault_report.confirmed" | "fault_report.dismissed" | "fault_report.opened" | "fault_report.repaired" | "invoice.*" | "invoice.issued" | "invoice.overdue" | "job.*" | "job.failed" | "job.queued" | "job.retried" | "job.started" | "job.stopped" | "job.succeeded" | "maintenance.*" | "maintenance.announced" | "member.*" | "member.invited" | "member.joined" | "member.removed" | "member.role_changed" | "operation.*" | "operation.cancelled" | "operation.cancelling" | "operation.created" | "operation.failed" | "operation.succeeded" | "partition.*" | "partition.active" | "partition.creating" | "partition.error" | "partition.missing" | "partition.removed" | "partition.removing" | "partition.resetting" | "partition.unknown" | "project.*" | "project.account_changed" | "project.charges_corrected" | "project.created" | "project.deleted" | "project.updated" | "quota.*" | "quota.updated" | "quota_request.*" | "quota_request.declined" | "quota_request.granted" | "quota_request.opened" | "quota_request.withdrawn" | "reservation.*" | "reservation.active" | "reservation.cancelled" | "reservation.created" | "reservation.ended" | "service.*" | "service.created" | "service.failed" | "service.restarted" | "service.started" | "service.stopped" | "snapshot.*" | "snapshot.available" | "snapshot.created" | "snapshot.deleted" | "snapshot.failed" | "snapshot.updated" | "ssh_authority.*" | "ssh_authority.rotated" | "ssh_certificate.*" | "ssh_certificate.issued" | "ssh_key.*" | "ssh_key.created" | "ssh_key.deleted" | "terminal.*" | "terminal.closed" | "terminal.opened" | "token.*" | "token.created" | "token.revoked" | "token.rotated" | "volume.*" | "volume.attached" | "volume.available" | "volume.created" | "volume.deleted" | "volume.detached" | "volume.failed" | "volume.resized" | "volume.updated" | "webhook.*" | "webhook.created" | "webhook.deleted" | "webhook.disabled" | "webhook.secret_rotated" | "webhook.updated")[] | null;
            url?: string | null;
        };
        WebhookStopped: {
            /** @enum {string} */
            reason: "by_owner" | "gone" | "failing";
        };
        /** @enum {string} */
        Weekday: "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";
        WhatIs: {
            commands: string[];
            created_at: string | null;
            id: string;
            kind: string;
            name: string | null;
            project: string | null;
            state: string | null;
        };
        WhatIsPage: {
            items: components["schemas"]["WhatIs"][];
            next_cursor: string | null;
        };
        Whoami: {
            project: components["schemas"]["Project"] | null;
            role: string;
            scopes: string[];
            token: components["schemas"]["Token"];
        };
        WhyNot: {
            detail: string;
            numbers: {
                [key: string]: number;
            };
            reason: string;
        };
        WorkItem: {
            attempt: number;
            key: string;
            kind: string;
            last_error: string | null;
            lease_until: string | null;
            parked_at: string | null;
            project: string | null;
            run_at: string | null;
            /** @enum {string} */
            state: "due" | "leased" | "resting" | "parked";
        };
        WorkItemPage: {
            items: components["schemas"]["WorkItem"][];
            next_cursor: string | null;
        };
        WorkItemPark: {
            reason: string;
        };
    };
    responses: never;
    parameters: {
        "webhook-id": string;
        "webhook-signature": string;
        "webhook-timestamp": string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    livez: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Liveness"];
                };
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    listBillingAccounts: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingAccountPage"];
                };
            };
        };
    };
    createBillingAccount: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BillingAccountCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingAccount"];
                };
            };
        };
    };
    getBillingAccount: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingAccount"];
                };
            };
        };
    };
    updateBillingAccount: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BillingAccountPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingAccount"];
                };
            };
        };
    };
    listAccountBudgets: {
        parameters: {
            query?: {
                name?: string | null;
                q?: string | null;
                order?: components["schemas"]["NamedOrder"];
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetPage"];
                };
            };
        };
    };
    createAccountBudget: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountBudgetCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
        };
    };
    getAccountBudget: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                account: string;
                budget: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
        };
    };
    deleteAccountBudget: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                account: string;
                budget: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateAccountBudget: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
                budget: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
        };
    };
    listAccountCloudEvents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                type?: ("account.export_limit_updated" | "account.funds_exhausted" | "account.funds_low" | "account.funds_restored" | "account.restricted" | "account.restriction_lifted" | "account.top_up_paused" | "account.top_up_requested" | "account.top_up_resumed" | "account.topped_up" | "budget.forecast_reached" | "budget.threshold_reached" | "credit_note.issued" | "invoice.issued" | "invoice.overdue" | "member.invited" | "member.joined" | "member.removed" | "operation.created" | "operation.failed" | "operation.succeeded" | "payment.failed" | "payment.received" | "payment.refunded" | "project.account_changed" | "webhook.created" | "webhook.deleted" | "webhook.disabled" | "webhook.secret_rotated" | "webhook.updated")[];
                subject?: string | null;
                after?: string | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CloudEventPage"];
                };
            };
        };
    };
    listAccountCredits: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditPage"];
                };
            };
        };
    };
    grantCredit: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key": string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreditCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credit"];
                };
            };
        };
    };
    getDunning: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dunning"];
                };
            };
        };
    };
    setDunning: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DunningPolicy"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dunning"];
                };
            };
        };
    };
    endDunning: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listAccountEvents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                type?: ("account.export_limit_updated" | "account.funds_exhausted" | "account.funds_low" | "account.funds_restored" | "account.restricted" | "account.restriction_lifted" | "account.top_up_paused" | "account.top_up_requested" | "account.top_up_resumed" | "account.topped_up" | "budget.forecast_reached" | "budget.threshold_reached" | "credit_note.issued" | "invoice.issued" | "invoice.overdue" | "member.invited" | "member.joined" | "member.removed" | "operation.created" | "operation.failed" | "operation.succeeded" | "payment.failed" | "payment.received" | "payment.refunded" | "project.account_changed" | "webhook.created" | "webhook.deleted" | "webhook.disabled" | "webhook.secret_rotated" | "webhook.updated")[];
                subject?: string | null;
                after?: string | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    streamAccountEvents: {
        parameters: {
            query?: {
                after?: string | null;
                wait?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    getAccountExportLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportLimit"];
                };
            };
        };
    };
    setAccountExportLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExportLimitSet"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportLimit"];
                };
            };
        };
    };
    listAccountExportSchedules: {
        parameters: {
            query?: {
                order?: components["schemas"]["Order"];
                every?: ("hour" | "day" | "month") | null;
                dataset?: components["schemas"]["Dataset"] | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportSchedulePage"];
                };
            };
        };
    };
    createAccountExportSchedule: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExportScheduleCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportSchedule"];
                };
            };
        };
    };
    deleteAccountExportSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listAccountExports: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["OperationState"][];
                dataset?: components["schemas"]["Dataset"] | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportPage"];
                };
            };
        };
    };
    createAccountExport: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountExportCreate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
        };
    };
    getAccountExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                export: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
        };
    };
    downloadAccountExport: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                account: string;
                export: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": string;
                    "text/csv": string;
                };
            };
        };
    };
    listAccountInvitations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                open?: boolean | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationPage"];
                };
            };
        };
    };
    createAccountInvitation: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountInvitationCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInvitation"];
                };
            };
        };
    };
    revokeAccountInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                invitation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    renewAccountInvitation: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
                invitation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInvitation"];
                };
            };
        };
    };
    listAccountInvoices: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                kind?: ("invoice" | "credit_note") | null;
                month?: string | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoicePage"];
                };
            };
        };
    };
    listAccountMembers: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                email?: string | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberPage"];
                };
            };
        };
    };
    removeAccountMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                member: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getPaymentMethod: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentMethod"];
                };
            };
        };
    };
    setPaymentMethod: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentMethodSet"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentMethod"];
                };
            };
        };
    };
    removePaymentMethod: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listPayments: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                direction?: ("in" | "out") | null;
                state?: ("pending" | "done" | "failed") | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentPage"];
                };
            };
        };
    };
    recordPayment: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key": string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
        };
    };
    failPayment: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
                payment: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentFailure"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
        };
    };
    getPrepaid: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Funds"];
                };
            };
        };
    };
    setPrepaid: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PrepaidPolicy"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Funds"];
                };
            };
        };
    };
    endPrepaid: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    setTopUp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopUpPolicy"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Funds"];
                };
            };
        };
    };
    endTopUp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    recordRefund: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key": string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefundCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
        };
    };
    getAccountReport: {
        parameters: {
            query?: {
                since?: string | null;
                until?: string | null;
                group_by?: string[];
                format?: ("json" | "csv") | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Report"];
                    "text/csv": string;
                };
            };
        };
    };
    listAccountS3Connections: {
        parameters: {
            query?: {
                name?: string | null;
                q?: string | null;
                order?: components["schemas"]["NamedOrder"];
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3ConnectionPage"];
                };
            };
        };
    };
    createAccountS3Connection: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountS3ConnectionCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3Connection"];
                };
            };
        };
    };
    getAccountS3Connection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                connection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3Connection"];
                };
            };
        };
    };
    deleteAccountS3Connection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                connection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateAccountS3Connection: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
                connection: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountS3ConnectionPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3Connection"];
                };
            };
        };
    };
    testAccountS3Connection: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
                connection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3Connection"];
                };
            };
        };
    };
    getAccountSummary: {
        parameters: {
            query?: {
                month?: string | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Summary"];
                };
            };
        };
    };
    listAccountWebhooks: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                enabled?: boolean | null;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
        };
    };
    createAccountWebhook: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountWebhookCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
        };
    };
    getAccountWebhook: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                account: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteAccountWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateAccountWebhook: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountWebhookPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    listAccountDeliveries: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: ("pending" | "delivered" | "failed") | null;
            };
            header?: never;
            path: {
                account: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
        };
    };
    getAccountDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                webhook: string;
                delivery: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    redeliverToAccount: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
                webhook: string;
                delivery: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    pingAccountWebhook: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    rotateAccountWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                account: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeepSecret"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
        };
    };
    getAccountInvoice: {
        parameters: {
            query?: {
                format?: ("json" | "pdf" | "factur-x" | "cii" | "ubl" | "xrechnung" | "peppol") | null;
            };
            header?: never;
            path: {
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                    "application/pdf": string;
                    "application/xml": string;
                };
            };
        };
    };
    getAccountInvoiceProof: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.ipucloud.invoice-proof+json": string;
                };
            };
        };
    };
    issueCreditNote: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key": string;
            };
            path: {
                number: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreditNoteCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
        };
    };
    listPriceCorrections: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceCorrectionPage"];
                };
            };
        };
    };
    correctPrice: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PriceCorrectionOrder"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceCorrection"];
                };
            };
        };
    };
    previewPriceCorrection: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PriceCorrectionBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceCorrectionPreview"];
                };
            };
        };
    };
    readPriceBook: {
        parameters: {
            query?: {
                sku?: string | null;
                region?: string | null;
                currency?: string | null;
                limit?: number;
                cursor?: string | null;
                account?: string | null;
                contract?: boolean | null;
                state?: components["schemas"]["PriceState"] | null;
                order?: components["schemas"]["PriceOrder"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceBookPage"];
                };
            };
        };
    };
    addPrices: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PriceAdditions"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PricesAdded"];
                };
            };
        };
    };
    withdrawPrice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                price: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listProofKeys: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProofKeyPage"];
                };
            };
        };
    };
    getSeller: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Seller"];
                };
            };
        };
    };
    updateSeller: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SellerPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Seller"];
                };
            };
        };
    };
    listTaxRates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaxRatePage"];
                };
            };
        };
    };
    addTaxRate: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaxRateCreate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaxRatePage"];
                };
            };
        };
    };
    listEventTypes: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypePage"];
                };
            };
        };
    };
    listFlavors: {
        parameters: {
            query?: {
                region?: string | null;
            };
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlavorPage"];
                };
            };
        };
    };
    getFlavor: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                flavor: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Flavor"];
                };
            };
        };
    };
    listIpus: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IpuPage"];
                };
            };
        };
    };
    listMachineTypes: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MachineTypePage"];
                };
            };
        };
    };
    listImages: {
        parameters: {
            query?: {
                region?: string | null;
            };
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImagePage"];
                };
            };
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationAccept"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invited"];
                };
            };
        };
    };
    showInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationShow"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invited"];
                };
            };
        };
    };
    logIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Login"];
                };
            };
        };
    };
    logOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    beginDeviceLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeviceLoginCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceLogin"];
                };
            };
        };
    };
    approveDeviceLogin: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeviceLoginShow"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    denyDeviceLogin: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeviceLoginShow"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    showDeviceLogin: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeviceLoginShow"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingDevice"];
                };
            };
        };
    };
    fetchDeviceToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeviceTokenCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Login"];
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
        };
    };
    getNotifications: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notifications"];
                };
            };
        };
    };
    replaceNotifications: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NotificationsReplace"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notifications"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listAllAuditLog: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                actor?: string | null;
                operation?: string | null;
                writes?: boolean;
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryPage"];
                };
            };
        };
    };
    listCleanings: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
                machine?: string | null;
                host?: string | null;
                cluster?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CleaningPage"];
                };
            };
        };
    };
    listOperatorCloudEvents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                type?: ("audit.repaired" | "automation.halted" | "automation.resumed" | "billing_month.late" | "billing_month.sealed" | "cluster.delete_forced" | "cluster.hardware_isolated" | "cluster.hardware_replaced" | "cluster.repair_ended" | "cluster.repair_started" | "cluster.repair_waiting" | "fault_report.closed" | "fault_report.confirmed" | "fault_report.dismissed" | "fault_report.opened" | "fault_report.repaired" | "freeze.ended" | "freeze.started" | "hardware.drained" | "hardware.maintained" | "hardware.quarantined" | "hardware.returned_to_service" | "inventory.agrees" | "inventory.differs" | "maintenance.announced" | "price.missing" | "price.supplied" | "price_correction.accepted" | "price_correction.finished" | "quota_request.declined" | "quota_request.granted" | "quota_request.opened" | "quota_request.withdrawn")[];
                region?: string | null;
                project?: string | null;
                subject?: string | null;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CloudEventPage"];
                };
            };
        };
    };
    forceDeleteCluster: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClusterForceDelete"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    listControllers: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ControllerPage"];
                };
            };
        };
    };
    listOperatorEvents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                type?: ("audit.repaired" | "automation.halted" | "automation.resumed" | "billing_month.late" | "billing_month.sealed" | "cluster.delete_forced" | "cluster.hardware_isolated" | "cluster.hardware_replaced" | "cluster.repair_ended" | "cluster.repair_started" | "cluster.repair_waiting" | "fault_report.closed" | "fault_report.confirmed" | "fault_report.dismissed" | "fault_report.opened" | "fault_report.repaired" | "freeze.ended" | "freeze.started" | "hardware.drained" | "hardware.maintained" | "hardware.quarantined" | "hardware.returned_to_service" | "inventory.agrees" | "inventory.differs" | "maintenance.announced" | "price.missing" | "price.supplied" | "price_correction.accepted" | "price_correction.finished" | "quota_request.declined" | "quota_request.granted" | "quota_request.opened" | "quota_request.withdrawn")[];
                region?: string | null;
                project?: string | null;
                subject?: string | null;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorEventPage"];
                };
            };
        };
    };
    streamOperatorEvents: {
        parameters: {
            query?: {
                after?: string | null;
                wait?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listAllFaultReports: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                state?: components["schemas"]["FaultReportState"] | null;
                region?: string | null;
                project?: string | null;
                cluster?: string | null;
                hardware?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorFaultReportPage"];
                };
            };
        };
    };
    getAnyFaultReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                fault_report: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorFaultReport"];
                };
            };
        };
    };
    confirmFaultReport: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                fault_report: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FaultReportConfirm"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorFaultReport"];
                };
            };
        };
    };
    dismissFaultReport: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                fault_report: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FaultReportDismiss"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorFaultReport"];
                };
            };
        };
    };
    listFreezes: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                state?: ("live" | "expired" | "ended") | null;
                region?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FreezePage"];
                };
            };
        };
    };
    startFreeze: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FreezeStart"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Freeze"];
                };
            };
        };
    };
    endFreeze: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                freeze: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FreezeEnd"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Freeze"];
                };
            };
        };
    };
    listHardwareEvents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                since?: string | null;
                type?: string | null;
                region?: string | null;
                kind?: ("machine" | "host") | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareEventPage"];
                };
            };
        };
    };
    drainHardware: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HardwareReason"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareChangedPage"];
                };
            };
        };
    };
    startMaintenance: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HardwareMaintenance"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareChangedPage"];
                };
            };
        };
    };
    quarantineHardware: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HardwareReason"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareChangedPage"];
                };
            };
        };
    };
    returnToService: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HardwareSelection"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareChangedPage"];
                };
            };
        };
    };
    validateHardware: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HardwareSelection"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareChangedPage"];
                };
            };
        };
    };
    listHealthReports: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
                machine?: string | null;
                host?: string | null;
                code?: string | null;
                source?: string | null;
                state?: ("suspected" | "live" | "cleared") | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthReportPage"];
                };
            };
        };
    };
    getHealthReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                report: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthReport"];
                };
            };
        };
    };
    clearHealthReport: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                report: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthReport"];
                };
            };
        };
    };
    listHardwareHosts: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
                health?: ("ok" | "unknown" | "degraded" | "failed" | "silent") | null;
                state?: ("free" | "allocated" | "cleaning" | "validating" | "unhealthy" | "maintenance" | "silent") | null;
                cluster?: string | null;
                code?: string | null;
                serial?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareHostPage"];
                };
            };
        };
    };
    getHardwareHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareHostDetail"];
                };
            };
        };
    };
    getHostHistory: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                since?: string | null;
                type?: string | null;
            };
            header?: never;
            path: {
                host: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareHistoryPage"];
                };
            };
        };
    };
    listInventoryFindings: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
                kind?: ("machine" | "host") | null;
                name?: string | null;
                code?: ("missing" | "surplus" | "wrong_serial" | "wrong_model" | "firmware_differs" | "cabling") | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InventoryFindingPage"];
                };
            };
        };
    };
    listHardwareMachines: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
                health?: ("ok" | "unknown" | "degraded" | "failed" | "silent") | null;
                state?: ("free" | "allocated" | "cleaning" | "validating" | "unhealthy" | "maintenance" | "silent") | null;
                cluster?: string | null;
                code?: string | null;
                serial?: string | null;
                rack?: string | null;
                pod?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareMachinePage"];
                };
            };
        };
    };
    getHardwareMachine: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                machine: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareMachineDetail"];
                };
            };
        };
    };
    getMachineHistory: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                since?: string | null;
                type?: string | null;
            };
            header?: never;
            path: {
                machine: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HardwareHistoryPage"];
                };
            };
        };
    };
    listObservations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObservationPage"];
                };
            };
        };
    };
    listAllOperations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["OperationState"][];
                kind?: string | null;
                project?: string | null;
                cluster?: string | null;
                region?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorOperationPage"];
                };
            };
        };
    };
    listPods: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
                rack?: string | null;
                machine_type?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PodPage"];
                };
            };
        };
    };
    listAllQuotaRequests: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                state?: components["schemas"]["QuotaRequestState"] | null;
                region?: string | null;
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorQuotaRequestPage"];
                };
            };
        };
    };
    getAnyQuotaRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                quota_request: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorQuotaRequest"];
                };
            };
        };
    };
    declineQuotaRequest: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                quota_request: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuotaRequestDecline"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorQuotaRequest"];
                };
            };
        };
    };
    grantQuotaRequest: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                quota_request: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuotaRequestGrant"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorQuotaRequest"];
                };
            };
        };
    };
    getOperatorCapacity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                region: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegionCapacity"];
                };
            };
        };
    };
    getDefragmentation: {
        parameters: {
            query: {
                flavor: string;
            };
            header?: never;
            path: {
                region: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Defragmentation"];
                };
            };
        };
    };
    listExpectedHardware: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path: {
                region: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExpectedHardwarePage"];
                };
            };
        };
    };
    replaceExpectedInventory: {
        parameters: {
            query?: {
                dry_run?: boolean;
            };
            header?: never;
            path: {
                region: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InventoryReplace"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExpectedInventory"];
                };
            };
        };
    };
    deleteExpectedInventory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                region: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    acceptShownHardware: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                region: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InventoryAccept"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExpectedInventory"];
                };
            };
        };
    };
    getRequestTrace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestTrace"];
                };
            };
        };
    };
    listSimulatedFaults: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
                ended?: boolean | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SimulatedFaultPage"];
                };
            };
        };
    };
    createSimulatedFault: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SimulatedFaultCreate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SimulatedFault"];
                };
            };
        };
    };
    endSimulatedFault: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                simulated_fault: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SimulatedFault"];
                };
            };
        };
    };
    listSiteFindings: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
                rule?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SiteFindingPage"];
                };
            };
        };
    };
    listStuck: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StuckPage"];
                };
            };
        };
    };
    listValidations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                region?: string | null;
                machine?: string | null;
                state?: ("waiting" | "testing" | "clearing" | "ended") | null;
                result?: ("passed" | "failed" | "abandoned") | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationPage"];
                };
            };
        };
    };
    whatIs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhatIsPage"];
                };
            };
        };
    };
    listWork: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                kind?: string | null;
                state?: ("due" | "leased" | "resting" | "parked") | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkItemPage"];
                };
            };
        };
    };
    parkWork: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                kind: string;
                item: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkItemPark"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkItem"];
                };
            };
        };
    };
    requeueWork: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                kind: string;
                item: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkItem"];
                };
            };
        };
    };
    listPrices: {
        parameters: {
            query?: {
                sku?: string | null;
                region?: string | null;
                currency?: string | null;
            };
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PricePage"];
                };
            };
        };
    };
    listProjects: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["NamedOrder"];
                name?: string | null;
                q?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectPage"];
                };
            };
        };
    };
    createProject: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    getProject: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    deleteProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateProject: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    listAddresses: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["AddressState"][];
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddressPage"];
                };
            };
        };
    };
    createAddress: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddressCreate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Address"];
                };
            };
        };
    };
    getAddress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Address"];
                };
            };
        };
    };
    deleteAddress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Address"];
                };
            };
        };
    };
    updateAddress: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                address: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddressPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Address"];
                };
            };
        };
    };
    attachAddress: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                address: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddressAttach"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Address"];
                };
            };
        };
    };
    detachAddress: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Address"];
                };
            };
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                actor?: string | null;
                operation?: string | null;
                writes?: boolean;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryPage"];
                };
            };
        };
    };
    getProjectAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectAccount"];
                };
            };
        };
    };
    assignProjectAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountChoice"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingAccount"];
                };
            };
        };
    };
    getBalance: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Balances"];
                };
            };
        };
    };
    listCredits: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditPage"];
                };
            };
        };
    };
    getExportLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportLimit"];
                };
            };
        };
    };
    setExportLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExportLimitSet"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportLimit"];
                };
            };
        };
    };
    listExportSchedules: {
        parameters: {
            query?: {
                order?: components["schemas"]["Order"];
                every?: ("hour" | "day" | "month") | null;
                dataset?: components["schemas"]["Dataset"] | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportSchedulePage"];
                };
            };
        };
    };
    createExportSchedule: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExportScheduleCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportSchedule"];
                };
            };
        };
    };
    deleteExportSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listExports: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["OperationState"][];
                dataset?: components["schemas"]["Dataset"] | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportPage"];
                };
            };
        };
    };
    createExport: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExportCreate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    getExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                export: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
        };
    };
    downloadExport: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                project: string;
                export: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": string;
                    "text/csv": string;
                };
            };
        };
    };
    getProjectFunds: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Funds"];
                };
            };
        };
    };
    listInvoices: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                kind?: ("invoice" | "credit_note") | null;
                month?: string | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoicePage"];
                };
            };
        };
    };
    getInvoiceDraft: {
        parameters: {
            query?: {
                format?: ("json" | "pdf" | "factur-x" | "cii" | "ubl" | "xrechnung" | "peppol") | null;
                month?: string | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                    "application/pdf": string;
                    "application/xml": string;
                };
            };
        };
    };
    getInvoice: {
        parameters: {
            query?: {
                format?: ("json" | "pdf" | "factur-x" | "cii" | "ubl" | "xrechnung" | "peppol") | null;
            };
            header?: never;
            path: {
                project: string;
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                    "application/pdf": string;
                    "application/xml": string;
                };
            };
        };
    };
    getInvoiceProof: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.ipucloud.invoice-proof+json": string;
                };
            };
        };
    };
    getProjectReport: {
        parameters: {
            query?: {
                since?: string | null;
                until?: string | null;
                group_by?: string[];
                format?: ("json" | "csv") | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Report"];
                    "text/csv": string;
                };
            };
        };
    };
    getProjectSummary: {
        parameters: {
            query?: {
                month?: string | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Summary"];
                };
            };
        };
    };
    topUpWallet: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key": string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopUpCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
        };
    };
    getBillingUsage: {
        parameters: {
            query?: {
                since?: string | null;
                until?: string | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectUsage"];
                };
            };
        };
    };
    listBudgets: {
        parameters: {
            query?: {
                name?: string | null;
                q?: string | null;
                order?: components["schemas"]["NamedOrder"];
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetPage"];
                };
            };
        };
    };
    createBudget: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
        };
    };
    getBudget: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                project: string;
                budget: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
        };
    };
    deleteBudget: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project: string;
                budget: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateBudget: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                budget: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
        };
    };
    listCloudEvents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                type?: ("account.funds_exhausted" | "account.funds_low" | "account.funds_restored" | "account.restricted" | "account.restriction_lifted" | "account.top_up_paused" | "account.top_up_requested" | "account.top_up_resumed" | "account.topped_up" | "address.attached" | "address.available" | "address.created" | "address.deleted" | "address.detached" | "address.failed" | "address.updated" | "audit.repaired" | "budget.created" | "budget.deleted" | "budget.forecast_reached" | "budget.threshold_reached" | "budget.updated" | "cluster.active" | "cluster.created" | "cluster.degraded" | "cluster.delete_forced" | "cluster.deleted" | "cluster.deleting" | "cluster.error" | "cluster.expiring" | "cluster.hardware_isolated" | "cluster.hardware_replaced" | "cluster.idle_suspended" | "cluster.preempted" | "cluster.preemption_scheduled" | "cluster.preemption_withdrawn" | "cluster.rebooting" | "cluster.rebuilding" | "cluster.recovered" | "cluster.repair_ended" | "cluster.repair_scheduled" | "cluster.repair_started" | "cluster.repair_waiting" | "cluster.resized" | "cluster.resizing" | "cluster.resuming" | "cluster.schedule_missed" | "cluster.schedule_started" | "cluster.schedule_waiting" | "cluster.servers_rebuilt" | "cluster.suspend_forced" | "cluster.suspended" | "cluster.suspending" | "cluster.updated" | "credit_note.issued" | "fault_report.closed" | "fault_report.confirmed" | "fault_report.dismissed" | "fault_report.opened" | "fault_report.repaired" | "invoice.issued" | "invoice.overdue" | "job.failed" | "job.queued" | "job.retried" | "job.started" | "job.stopped" | "job.succeeded" | "maintenance.announced" | "member.invited" | "member.joined" | "member.removed" | "member.role_changed" | "operation.cancelled" | "operation.cancelling" | "operation.created" | "operation.failed" | "operation.succeeded" | "partition.active" | "partition.creating" | "partition.error" | "partition.missing" | "partition.removed" | "partition.removing" | "partition.resetting" | "partition.unknown" | "project.account_changed" | "project.charges_corrected" | "project.created" | "project.deleted" | "project.updated" | "quota.updated" | "quota_request.declined" | "quota_request.granted" | "quota_request.opened" | "quota_request.withdrawn" | "reservation.active" | "reservation.cancelled" | "reservation.created" | "reservation.ended" | "service.created" | "service.failed" | "service.restarted" | "service.started" | "service.stopped" | "snapshot.available" | "snapshot.created" | "snapshot.deleted" | "snapshot.failed" | "snapshot.updated" | "ssh_authority.rotated" | "ssh_certificate.issued" | "ssh_key.created" | "ssh_key.deleted" | "terminal.closed" | "terminal.opened" | "token.created" | "token.revoked" | "token.rotated" | "volume.attached" | "volume.available" | "volume.created" | "volume.deleted" | "volume.detached" | "volume.failed" | "volume.resized" | "volume.updated" | "webhook.created" | "webhook.deleted" | "webhook.disabled" | "webhook.secret_rotated" | "webhook.updated")[];
                subject?: string | null;
                after?: string | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CloudEventPage"];
                };
            };
        };
    };
    listClusters: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["NamedOrder"];
                state?: components["schemas"]["ClusterState"][];
                region?: string | null;
                flavor?: string | null;
                name?: string | null;
                q?: string | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterPage"];
                };
            };
        };
    };
    createCluster: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClusterCreate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    getCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cluster"];
                };
            };
        };
    };
    deleteCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    updateCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClusterPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cluster"];
                };
            };
        };
    };
    listCharges: {
        parameters: {
            query?: {
                since?: string | null;
                until?: string | null;
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChargePage"];
                };
            };
        };
    };
    listJobs: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["JobState"][];
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobPage"];
                };
            };
        };
    };
    createJob: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JobCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
        };
    };
    getJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                cluster: string;
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
        };
    };
    getJobLog: {
        parameters: {
            query?: {
                after?: number;
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobLog"];
                };
            };
        };
    };
    stopJob: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
        };
    };
    listMachines: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MachinePage"];
                };
            };
        };
    };
    reportMachineFault: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
                machine: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FaultReportCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FaultReport"];
                };
            };
        };
    };
    getClusterMetrics: {
        parameters: {
            query?: {
                since?: string | null;
                until?: string | null;
                step?: number | null;
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Metrics"];
                };
            };
        };
    };
    listPartitions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["PartitionState"][];
                origin?: components["schemas"]["Origin"] | null;
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PartitionPage"];
                };
            };
        };
    };
    createPartition: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PartitionCreate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    getPartition: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                project: string;
                cluster: string;
                partition: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PartitionDetails"];
                };
            };
        };
    };
    removePartition: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project: string;
                cluster: string;
                partition: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    getPartitionConfig: {
        parameters: {
            query?: {
                gcd?: number;
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
                partition: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IpuofConfig"];
                };
            };
        };
    };
    resetPartition: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
                partition: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PartitionReset"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    listPoplarServers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerPage"];
                };
            };
        };
    };
    getConsole: {
        parameters: {
            query?: {
                boot?: number;
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
                poplar_server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Console"];
                };
            };
        };
    };
    reportServerFault: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
                poplar_server: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FaultReportCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FaultReport"];
                };
            };
        };
    };
    listServices: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["ServiceState"][];
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServicePage"];
                };
            };
        };
    };
    createService: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServiceCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Service"];
                };
            };
        };
    };
    getService: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                cluster: string;
                service: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Service"];
                };
            };
        };
    };
    getServiceLog: {
        parameters: {
            query?: {
                after?: number;
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
                service: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceLog"];
                };
            };
        };
    };
    getServiceMetrics: {
        parameters: {
            query?: {
                since?: string | null;
                until?: string | null;
                step?: number | null;
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
                service: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceMetrics"];
                };
            };
        };
    };
    stopService: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
                service: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Service"];
                };
            };
        };
    };
    getTopology: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topology"];
                };
            };
        };
    };
    getClusterUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
        };
    };
    getVipu: {
        parameters: {
            query?: {
                partition?: string | null;
            };
            header?: never;
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Vipu"];
                };
            };
        };
    };
    rotateVipuKey: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyRotate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewVipuKey"];
                };
            };
        };
    };
    estimateClusterResize: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClusterResize"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResizeEstimate"];
                };
            };
        };
    };
    powerCycleCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ClusterRestart"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    rebootCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ClusterRestart"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    rebuildCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClusterRebuild"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    repairCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    rescheduleRepair: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RepairReschedule"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cluster"];
                };
            };
        };
    };
    resizeCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClusterResize"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    resumeCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ClusterResume"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    signSshKey: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SshCertificateRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshCertificate"];
                };
            };
        };
    };
    suspendCluster: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                cluster: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    estimateCluster: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClusterCreate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Estimate"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                type?: ("account.funds_exhausted" | "account.funds_low" | "account.funds_restored" | "account.restricted" | "account.restriction_lifted" | "account.top_up_paused" | "account.top_up_requested" | "account.top_up_resumed" | "account.topped_up" | "address.attached" | "address.available" | "address.created" | "address.deleted" | "address.detached" | "address.failed" | "address.updated" | "audit.repaired" | "budget.created" | "budget.deleted" | "budget.forecast_reached" | "budget.threshold_reached" | "budget.updated" | "cluster.active" | "cluster.created" | "cluster.degraded" | "cluster.delete_forced" | "cluster.deleted" | "cluster.deleting" | "cluster.error" | "cluster.expiring" | "cluster.hardware_isolated" | "cluster.hardware_replaced" | "cluster.idle_suspended" | "cluster.preempted" | "cluster.preemption_scheduled" | "cluster.preemption_withdrawn" | "cluster.rebooting" | "cluster.rebuilding" | "cluster.recovered" | "cluster.repair_ended" | "cluster.repair_scheduled" | "cluster.repair_started" | "cluster.repair_waiting" | "cluster.resized" | "cluster.resizing" | "cluster.resuming" | "cluster.schedule_missed" | "cluster.schedule_started" | "cluster.schedule_waiting" | "cluster.servers_rebuilt" | "cluster.suspend_forced" | "cluster.suspended" | "cluster.suspending" | "cluster.updated" | "credit_note.issued" | "fault_report.closed" | "fault_report.confirmed" | "fault_report.dismissed" | "fault_report.opened" | "fault_report.repaired" | "invoice.issued" | "invoice.overdue" | "job.failed" | "job.queued" | "job.retried" | "job.started" | "job.stopped" | "job.succeeded" | "maintenance.announced" | "member.invited" | "member.joined" | "member.removed" | "member.role_changed" | "operation.cancelled" | "operation.cancelling" | "operation.created" | "operation.failed" | "operation.succeeded" | "partition.active" | "partition.creating" | "partition.error" | "partition.missing" | "partition.removed" | "partition.removing" | "partition.resetting" | "partition.unknown" | "project.account_changed" | "project.charges_corrected" | "project.created" | "project.deleted" | "project.updated" | "quota.updated" | "quota_request.declined" | "quota_request.granted" | "quota_request.opened" | "quota_request.withdrawn" | "reservation.active" | "reservation.cancelled" | "reservation.created" | "reservation.ended" | "service.created" | "service.failed" | "service.restarted" | "service.started" | "service.stopped" | "snapshot.available" | "snapshot.created" | "snapshot.deleted" | "snapshot.failed" | "snapshot.updated" | "ssh_authority.rotated" | "ssh_certificate.issued" | "ssh_key.created" | "ssh_key.deleted" | "terminal.closed" | "terminal.opened" | "token.created" | "token.revoked" | "token.rotated" | "volume.attached" | "volume.available" | "volume.created" | "volume.deleted" | "volume.detached" | "volume.failed" | "volume.resized" | "volume.updated" | "webhook.created" | "webhook.deleted" | "webhook.disabled" | "webhook.secret_rotated" | "webhook.updated")[];
                subject?: string | null;
                after?: string | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                after?: string | null;
                wait?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listFaultReports: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                cluster?: string | null;
                state?: components["schemas"]["FaultReportState"][];
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FaultReportPage"];
                };
            };
        };
    };
    getFaultReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                fault_report: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FaultReport"];
                };
            };
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                open?: boolean | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationPage"];
                };
            };
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInvitation"];
                };
            };
        };
    };
    revokeInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                invitation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    renewInvitation: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                invitation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInvitation"];
                };
            };
        };
    };
    listMembers: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                email?: string | null;
                role?: ("viewer" | "operator" | "billing" | "owner") | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberPage"];
                };
            };
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                member: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateMember: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                member: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    getProjectMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    listOperations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["OperationState"][];
                kind?: string | null;
                cluster?: string | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationPage"];
                };
            };
        };
    };
    getOperation: {
        parameters: {
            query?: {
                wait?: number;
            };
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                project: string;
                operation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    cancelOperation: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                operation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
        };
    };
    getOverview: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
        };
    };
    listProjectPrices: {
        parameters: {
            query?: {
                sku?: string | null;
                region?: string | null;
                currency?: string | null;
            };
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaidPricePage"];
                };
            };
        };
    };
    listQuotaRequests: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["QuotaRequestState"][];
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaRequestPage"];
                };
            };
        };
    };
    createQuotaRequest: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuotaRequestCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaRequest"];
                };
            };
        };
    };
    getQuotaRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                quota_request: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaRequest"];
                };
            };
        };
    };
    withdrawQuotaRequest: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                quota_request: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaRequest"];
                };
            };
        };
    };
    listQuotas: {
        parameters: {
            query?: {
                region?: string | null;
                machine_type?: string | null;
                order?: components["schemas"]["QuotaOrder"];
            };
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaPage"];
                };
            };
        };
    };
    replaceQuotas: {
        parameters: {
            query?: never;
            header: {
                "If-Match": string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuotaLimits"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaPage"];
                };
            };
        };
    };
    listReservations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["ReservationState"][];
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReservationPage"];
                };
            };
        };
    };
    createReservation: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReservationCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reservation"];
                };
            };
        };
    };
    getReservation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                reservation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reservation"];
                };
            };
        };
    };
    cancelReservation: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                reservation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reservation"];
                };
            };
        };
    };
    estimateReservation: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReservationCreate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReservationEstimate"];
                };
            };
        };
    };
    listS3Connections: {
        parameters: {
            query?: {
                name?: string | null;
                q?: string | null;
                order?: components["schemas"]["NamedOrder"];
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3ConnectionPage"];
                };
            };
        };
    };
    createS3Connection: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["S3ConnectionCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3Connection"];
                };
            };
        };
    };
    getS3Connection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                connection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3Connection"];
                };
            };
        };
    };
    deleteS3Connection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                connection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateS3Connection: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                connection: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["S3ConnectionPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3Connection"];
                };
            };
        };
    };
    testS3Connection: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                connection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["S3Connection"];
                };
            };
        };
    };
    listSnapshots: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["SnapshotState"][];
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SnapshotPage"];
                };
            };
        };
    };
    createSnapshot: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SnapshotCreate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
        };
    };
    getSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                snapshot: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
        };
    };
    deleteSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                snapshot: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
        };
    };
    updateSnapshot: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                snapshot: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SnapshotPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
        };
    };
    getSshAuthority: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshAuthority"];
                };
            };
        };
    };
    rotateSshAuthority: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshAuthority"];
                };
            };
        };
    };
    listSshKeys: {
        parameters: {
            query?: {
                name?: string | null;
                q?: string | null;
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["NamedOrder"];
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshKeyPage"];
                };
            };
        };
    };
    createSshKey: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SshKeyCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshKey"];
                };
            };
        };
    };
    getSshKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshKey"];
                };
            };
        };
    };
    deleteSshKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listTokens: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["NamedOrder"];
                active?: boolean | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotateToken: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenRotate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
        };
    };
    getProjectUsage: {
        parameters: {
            query?: {
                since?: string | null;
                until?: string | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectUsage"];
                };
            };
        };
    };
    listVolumes: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: components["schemas"]["VolumeState"][];
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VolumePage"];
                };
            };
        };
    };
    createVolume: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VolumeCreate"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    getVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                volume: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    deleteVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                volume: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    updateVolume: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                volume: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VolumePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    attachVolume: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                volume: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VolumeAttach"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    detachVolume: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                volume: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    resizeVolume: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                volume: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VolumeResize"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                enabled?: boolean | null;
            };
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                project: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["Order"];
                state?: ("pending" | "delivered" | "failed") | null;
            };
            header?: never;
            path: {
                project: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                webhook: string;
                delivery: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                webhook: string;
                delivery: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    pingWebhook: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                project: string;
                webhook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeepSecret"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
        };
    };
    listRecipes: {
        parameters: {
            query?: {
                task?: components["schemas"]["RecipeTask"] | null;
                runnable?: boolean | null;
            };
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecipePage"];
                };
            };
        };
    };
    getRecipe: {
        parameters: {
            query?: {
                region?: string | null;
            };
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                recipe: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecipeOffer"];
                };
            };
        };
    };
    listRegions: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegionPage"];
                };
            };
        };
    };
    getRegion: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                region: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Region"];
                };
            };
        };
    };
    getRegionCapacity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                region: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapacityPage"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewSession"];
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createSignInLink: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInLink"];
                };
            };
        };
    };
    switchSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionSwitch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    listSignInProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInProviderList"];
                };
            };
        };
    };
    beginProviderSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProviderSignInCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderSignIn"];
                };
            };
        };
    };
    listPlatformTokens: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                order?: components["schemas"]["NamedOrder"];
                active?: boolean | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
        };
    };
    createPlatformToken: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlatformTokenCreate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
        };
    };
    getPlatformToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    revokePlatformToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotatePlatformToken: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenRotate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
        };
    };
    listTools: {
        parameters: {
            query?: {
                kind?: components["schemas"]["ToolKind"] | null;
            };
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolPage"];
                };
            };
        };
    };
    whoami: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Whoami"];
                };
            };
        };
    };
}
